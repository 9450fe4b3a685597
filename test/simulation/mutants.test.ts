import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mutants, mutate } from '../../simulation/mutants/mutants.ts'
import { runCopy } from '../../simulation/mutants/run-copy.ts'

describe('mutants', () => {
  test('have unique names', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
  })

  test.each(mutants)('$name replaces text that occurs once and compiles', (mutant) => {
    const source = readFileSync(mutant.file, 'utf8')
    const mutated = mutate(source, mutant)
    expect(mutated).not.toBe(source)
    expect(() => stripTypeScriptTypes(mutated)).not.toThrow()
  })

  test('are rejected unless their text occurs exactly once', () => {
    const mutant = { name: 'one', file: 'a.ts', from: 'one', to: 'other' }
    expect(() => mutate('two', mutant)).toThrow('0 times')
    expect(() => mutate('one and one', mutant)).toThrow('2 times')
  })
})

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
      'receives its seeds and is clean if it exits with 0, despite its logs',
      `for (const seed of [7, 8, 9]) console.log(\`seed \${seed}: 0 violations\`)
      console.error('invariant 5: appears in a log')
      const options = process.argv.slice(2).join(' ')
      process.exitCode = options === '--seed 7 --runs 3 --each 50' ? 0 : 1`,
      { end: { kind: 'clean' }, runs: 3 },
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
