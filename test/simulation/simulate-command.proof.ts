import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { faultNames } from '../../simulation/world/faults.ts'

/** `npm run simulate` and `npm run simulate:kills`, as they are typed. */

const ran = async (script: string, ...args: string[]): Promise<{ code: number; out: string }> => {
  const node = ['--no-warnings', `simulation/${script}.ts`, ...args]
  return promisify(execFile)(process.execPath, node, { maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, out: stdout }),
  )
}

const traceIn = (out: string): string | undefined =>
  /trace (?:of all: )?([0-9a-f]{64})/.exec(out)?.[1]

test('worlds are lived through, and each fault is counted', async () => {
  const { code, out } = await ran('main', '--lifecycles', '400', '--seed', '11')
  expect(out).toContain('Nothing was lost, doubled or shown to others.')
  expect(faultNames.filter((name) => !out.includes(`\n${name} `))).toEqual([])
  expect(code).toBe(0)
})

test('the same seeds are the same worlds, however many live through them', async () => {
  const size = ['--lifecycles', '120', '--each', '30', '--seed', '5']
  const alone = await ran('main', ...size, '--workers', '1')
  const together = await ran('main', ...size, '--workers', '3')
  const others = await ran('main', ...size, '--workers', '1', '--seed', '6')
  expect(traceIn(alone.out)).toMatch(/^[0-9a-f]{64}$/)
  expect(traceIn(together.out)).toBe(traceIn(alone.out))
  expect(traceIn(others.out)).not.toBe(traceIn(alone.out))
})

test('one world can be told step by step, or some of its debits alone', async () => {
  const told = await ran('main', '--seed', '3', '--each', '20', '--trace')
  expect(told.out).toMatch(/\n\d{4}-\d\d-\d\dT[\d:.]+Z charge#\d+ TransactWriteCommand DEBIT#/)
  expect(told.out).toMatch(/\nseed 3: 20 debits, \d+ steps, trace [0-9a-f]{64}\n$/)
  const less = await ran('main', '--seed', '3', '--each', '20', '--lives', '1,2')
  expect(less.out).toMatch(/^seed 3: 2 debits/)
})

test('what is no number is told in one line', async () => {
  expect(await ran('main', '--lifecycles', 'many')).toEqual({ code: 2, out: '' })
})

test('a worker is lost at the effects of every shape', async () => {
  const { code, out } = await ran('kills/main', '--one-in', '150')
  expect(out).toMatch(/^62 shapes, \d+ effects/)
  expect(code).toBe(0)
})

test('one of its worlds can be lived through again', async () => {
  const shape = ['--shape', 'reversed while its line is written']
  const { code, out } = await ran(
    'kills/main',
    ...shape,
    '--deaths',
    '12:before,20:after',
    '--trace',
  )
  expect(out).toContain('is lost before')
  expect(out).toContain('is lost after')
  expect(code).toBe(0)
})
