import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { faults } from '../../../proofs/simulation/engine/faults.ts'
import { mutants } from '../../../proofs/simulation/mutants/mutants.ts'
import { copySource, removeCopy } from '../../../proofs/simulation/mutants/source-copies.ts'
import { smallSizeEvents } from '../../../proofs/simulation/rare-events.ts'
import { kinds } from '../../../proofs/simulation/scenario/kinds.ts'
import { exceptionKinds } from '../../../shared/domain/debits/exception.ts'
import { newFolder } from '../../support/folders.ts'

type Output = { code: number; out: string }

const runWith = async (options: object, script: string, ...args: string[]): Promise<Output> => {
  const node = ['--no-warnings', `proofs/simulation/${script}.ts`, ...args]
  const limits = { maxBuffer: 64 * 1024 * 1024, ...options }
  return promisify(execFile)(process.execPath, node, limits).then(
    ({ stdout }) => ({ code: 0, out: String(stdout) }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, out: stdout }),
  )
}

const run = (script: string, ...args: string[]) => runWith({}, script, ...args)

const traceIn = (out: string): string | undefined =>
  /trace (?:of all: )?([0-9a-f]{64})/.exec(out)?.[1]

test('the command counts each fault and kind, and its trace is the same with any number of workers', async () => {
  const size = ['--lifecycles', '60', '--each', '20', '--seed', '5']
  const one = await run('main', ...size, '--workers', '1')
  const three = await run('main', ...size, '--workers', '3')
  const others = await run('main', ...size, '--workers', '1', '--seed', '6')
  expect(traceIn(one.out)).toMatch(/^[0-9a-f]{64}$/)
  expect(traceIn(three.out)).toBe(traceIn(one.out))
  expect(traceIn(others.out)).not.toBe(traceIn(one.out))
  const described = [...one.out.matchAll(/^(.+?) +\d+ +\d+ {2}\S/gm)].map(([, name]) => name)
  expect(described).toEqual([...Object.keys(faults), ...Object.keys(kinds)])
})

test('the command counts exceptions of each kind in one scenario of operators', async () => {
  const size = ['--lifecycles', '200', '--each', '200', '--workers', '1']
  const scenario = ['--scenario', 'operators', ...size]
  const { code, out } = await run('main', ...scenario)
  const counted = out.matchAll(/^exception (\w+) +[1-9]\d* +1$/gm)
  expect([...counted].map(([, kind]) => kind)).toEqual(Object.keys(exceptionKinds))
  expect(code).toBe(0)
})

test('the runs with small sizes have lanes, divided work and several pages', async () => {
  // Each occurs in nine of ten runs, by hundreds; of five, one may lack one.
  const size = ['--lifecycles', '1000', '--each', '200', '--workers', '2']
  const scenario = ['--scenario', 'small sizes', ...size]
  const { code, out } = await run('main', ...scenario)
  const runsWith = (name: string) =>
    Number(new RegExp(`^${name} +\\d+ +(\\d+)$`, 'm').exec(out)?.[1])
  const names = ['settlement run cut off', ...Object.keys(smallSizeEvents)]
  const rare = names.filter((name) => !(runsWith(name) >= 4))
  expect(rare).toEqual([])
  expect(code).toBe(0)
})

test('the command explains the smallest failing run in words, and prints the command that replays it', async () => {
  const cwd = copySource(mutants.find(({ name }) => name === 'signature-in-capitals'))
  onTestFinished(() => removeCopy(cwd))
  const size = ['--lifecycles', '20', '--each', '20', '--seed', '4', '--workers', '1']
  const { code, out } = await runWith({ cwd }, 'main', ...size)
  expect(out).toMatch(/\nseed 4: invariant 18: /)
  const [, story = ''] = out.split(/\nThe smallest failing run found has \d+ of 20 debits:\n\n/)
  const [head = '', tail = ''] = story.split(
    '\ntimeline (hours, minutes and seconds since the charge):\n',
  )
  const [rule, violation] = head.split('\n')
  expect(rule).toBe('invariant 18: a signature covers the exact bytes, with the right secret')
  expect(violation).toMatch(/^ {2}invariant 18: \S+ \S+ has a wrong signature$/)
  expect(head).toMatch(
    /\ndebit \d+: \w+ charges [\d.]+.* at (?:HBA|HBB|SBX); the bank (?:accepts|rejects) it/,
  )
  expect(head).toMatch(/\npreceded by (?:no fault|FAULT .+: .+)$/)
  const lines = tail.split('\n')
  const timeline = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('  ')),
  )
  expect(timeline.length).toBeLessThanOrEqual(25)
  expect(timeline[0]).toMatch(/^ {2}0:00:0\d\.\d{3} {2}/)
  expect(timeline.join('\n')).toMatch(/ {2}\w+ calls charge: 202\n/)
  const smallest = /\nreplay: npm run simulate -- (.+)\n/.exec(story)?.[1] ?? ''
  expect(smallest).toMatch(/^--seed 4 --each 20 --lives \d+/)
  expect(out).toMatch(/\nInvariants were violated\.\n$/)
  expect(code).toBe(1)
  const args = smallest.replaceAll("'", '').split(/ (?=--)|(?<=--\w+) /)
  const replayed = await runWith({ cwd }, 'main', ...args)
  expect(replayed.out).toMatch(/^invariant 18: a signature covers the exact bytes/)
  expect(replayed.code).toBe(1)
})

test('the command prints each kind of scenario and each fault, with its share of a million lifecycles', async () => {
  const { code, out } = await run('main', '--kinds')
  const named = [...out.matchAll(/^ +(\d+) {2}([^:]+): /gm)]
  expect(named.map(([, , name]) => name)).toEqual([...Object.keys(kinds), ...Object.keys(faults)])
  const ofKinds = named.slice(0, Object.keys(kinds).length).map(([, runs]) => Number(runs))
  expect(ofKinds.reduce((sum, runs) => sum + runs, 0)).toBeCloseTo(10_000, -1)
  expect(code).toBe(0)
})

test('the command prints the trace of one run, or runs only some of its debits', async () => {
  const traced = await run('main', '--seed', '3', '--each', '20', '--trace')
  expect(traced.out).toMatch(/\n\d{4}-\d\d-\d\dT[\d:.]+Z charge#\d+ TransactWriteCommand DEBIT#/)
  expect(traced.out).toMatch(/\nseed 3: 20 debits, \d+ steps, trace [0-9a-f]{64}\n$/)
  const reduced = await run('main', '--seed', '3', '--each', '20', '--lives', '1,2')
  expect(reduced.out).toMatch(/^seed 3: 2 debits/)
})

test('the command `simulate:kills` replays one of its runs', async () => {
  const shape = ['--shape', 'reversed while its line is written']
  const crashes = ['--deaths', '12:before,20:after', '--trace']
  const { code, out } = await run('crash-points/main', ...shape, ...crashes)
  expect(out).toContain(' crashes before ')
  expect(out).toContain(' crashes after ')
  expect(code).toBe(0)
})

test('the command names the invariants that catch each mutant and removes its copies', async () => {
  const TMPDIR = newFolder()
  const names = ['signature-in-capitals', 'limit-returned-to-the-wrong-day']
  const only = names.flatMap((name) => ['--only', name])
  const options = { env: { ...process.env, TMPDIR } }
  const { code, out } = await runWith(options, 'mutants/main', '--lifecycles', '200', ...only)
  expect(out).toMatch(/^limit-returned-to-the-wrong-day +.*\b20\b/m)
  expect(out).toMatch(/^signature-in-capitals +.*\b18\b/m)
  expect(out).toMatch(/\n2 of 2 caught \(100 %\)\n$/)
  expect(code).toBe(0)
  expect(await readdir(TMPDIR)).toEqual([])
})

test('the command rejects an unknown mutant and an option that is not a number', async () => {
  for (const options of [
    ['--only', 'nothing-wrong'],
    ['--lifecycles', 'many'],
  ]) {
    expect(await run('mutants/main', ...options)).toEqual({ code: 2, out: '' })
  }
})
