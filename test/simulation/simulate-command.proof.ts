import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { faultNames } from '../../simulation/engine/faults.ts'
import { faults } from '../../simulation/mutants/mutants.ts'
import { copyWith, removeAll } from '../../simulation/mutants/source-copies.ts'

/** `npm run simulate` and `npm run simulate:kills`, as they are typed. */

afterAll(removeAll)

const ranIn = async (
  cwd: string,
  script: string,
  ...args: string[]
): Promise<{ code: number; out: string }> => {
  const node = ['--no-warnings', `simulation/${script}.ts`, ...args]
  return promisify(execFile)(process.execPath, node, { cwd, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, out: stdout }),
  )
}

const ran = (script: string, ...args: string[]) => ranIn(process.cwd(), script, ...args)

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

test('a world that is wrong is told with the least of it, and how to live through it again', async () => {
  const fault = faults.find(({ name }) => name === 'signature-in-capitals')
  const copy = await copyWith(fault)
  const size = ['--lifecycles', '20', '--each', '20', '--seed', '4', '--workers', '1']
  const { code, out } = await ranIn(copy, 'main', ...size)
  expect(out).toMatch(/\nseed 4: invariant 18: /)
  const least = /\n {2}the least of it: npm run simulate -- (.+)\n {4}\d{4}-/.exec(out)?.[1] ?? ''
  expect(least).toMatch(/^--seed 4 --each 20 --trace --lives \d+/)
  expect(out).toMatch(/\nSomething is wrong\.\n$/)
  expect(code).toBe(1)
  const again = await ranIn(copy, 'main', ...least.replaceAll("'", '').split(/ (?=--)|(?<=--\w+) /))
  expect(again.out).toContain('\ninvariant 18: ')
  expect(again.code).toBe(1)
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
  const { code, out } = await ran('crash-points/main', '--one-in', '150')
  expect(out).toMatch(/^62 shapes, \d+ effects/)
  expect(code).toBe(0)
})

test('one of its worlds can be lived through again', async () => {
  const shape = ['--shape', 'reversed while its line is written']
  const { code, out } = await ran(
    'crash-points/main',
    ...shape,
    '--deaths',
    '12:before,20:after',
    '--trace',
  )
  expect(out).toContain('is lost before')
  expect(out).toContain('is lost after')
  expect(code).toBe(0)
})
