import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCopy } from '../../simulation/mutants/run-copy.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-'))
  await mkdir(join(folder, 'simulation', 'mutants'), { recursive: true })
})

afterAll(() => rm(folder, { recursive: true }))

const resultOf = async (program: string, signal = new AbortController().signal) => {
  await writeFile(join(folder, 'simulation', 'mutants', 'run-seeds.ts'), program)
  return runCopy(folder, { seed: 7, runs: 3, each: 50 }, signal)
}

describe('the process that runs a copy', () => {
  test.each([
    [
      'is clean if it exits with 0, despite its logs',
      `for (const seed of [7, 8, 9]) console.log(\`seed \${seed}: 0 violations\`)
      console.error('invariant 5: appears in a log')`,
      { end: { kind: 'clean' }, runs: 3 },
    ],
    [
      'receives the seed and both sizes',
      `const options = process.argv.slice(2).join(' ')
      console.log('seed 7: 0 violations')
      process.exitCode = options === '--seed 7 --runs 3 --each 50' ? 0 : 1`,
      { end: { kind: 'clean' }, runs: 1 },
    ],
    [
      'catches a mutant by every invariant that it reports',
      `console.log('seed 7: 0 violations')
      console.log('invariant 20: amber has another total')
      console.log('invariant 5: failed is not final')
      console.log('invariant 20: again')
      console.log('seed 8: 3 violations')
      process.exitCode = 1`,
      { end: { kind: 'caught', invariants: [5, 20], neverIdle: false }, runs: 2 },
    ],
    [
      'catches a mutant whose run never becomes idle',
      "throw new Error('The run never becomes idle')",
      { end: { kind: 'caught', invariants: [], neverIdle: true }, runs: 1 },
    ],
    [
      'crashes if it throws another error',
      `console.log('seed 7: 0 violations')
      throw new TypeError('a is not a function')`,
      { end: { kind: 'crashed', message: 'TypeError: a is not a function' }, runs: 2 },
    ],
  ])('%s', async (_, program, result) => {
    expect(await resultOf(program)).toEqual(result)
  })

  test('hangs if it is stopped without a report', async () => {
    const controller = new AbortController()
    const result = resultOf('setInterval(() => undefined, 1000)', controller.signal)
    controller.abort()
    expect(await result).toEqual({ end: { kind: 'hung' }, runs: 1 })
  })
})
