import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tryOut } from '../../simulation/mutants/run-copy.ts'

/** What a process that scripts through worlds is taken for, by what it says and how it ends. */

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trial-'))
  await mkdir(join(folder, 'simulation', 'mutants'), { recursive: true })
})

afterAll(() => rm(folder, { recursive: true }))

const tried = async (program: string, signal = new AbortController().signal) => {
  await writeFile(join(folder, 'simulation', 'mutants', 'run-seeds.ts'), program)
  return tryOut(folder, { seed: 7, worlds: 3, each: 50 }, signal)
}

describe('a process that scripts through worlds', () => {
  test('and ends well has seen nothing', async () => {
    const program = `
      for (const seed of [7, 8, 9]) console.log(\`seed \${seed}: 0 violations\`)
      console.error('invariant 5: is written about, and holds')`
    expect(await tried(program)).toEqual({ end: { kind: 'clean' }, worlds: 3 })
  })

  test('is told which, how many, and how large', async () => {
    const program = `
      const wanted = process.argv.slice(2).join(' ')
      process.exitCode = wanted === '--seed 7 --worlds 3 --each 50' ? 0 : 1`
    expect((await tried(program)).end).toEqual({ kind: 'clean' })
  })

  test('and complains has caught something, by each invariant it names', async () => {
    const program = `
      console.log('seed 7: 0 violations')
      console.log('invariant 20: amber has counted too much')
      console.log('invariant 5: failed is not final')
      console.log('invariant 20: and once more')
      console.log('seed 8: 3 violations')
      process.exitCode = 1`
    expect(await tried(program)).toEqual({
      end: { kind: 'caught', invariants: [5, 20], restless: false },
      worlds: 2,
    })
  })

  test('and finds a world without rest has caught something', async () => {
    expect(await tried("throw new Error('The world never comes to rest')")).toEqual({
      end: { kind: 'caught', invariants: [], restless: true },
      worlds: 1,
    })
  })

  test('and ends with an error of its own has crashed', async () => {
    const program = `
      console.log('seed 7: 0 violations')
      throw new TypeError('a is not a function')`
    expect(await tried(program)).toEqual({
      end: { kind: 'crashed', says: 'TypeError: a is not a function' },
      worlds: 2,
    })
  })

  test('and is stopped before it says anything has caught nothing', async () => {
    const ending = new AbortController()
    const hung = tried('setInterval(() => undefined, 1000)', ending.signal)
    ending.abort()
    expect(await hung).toEqual({ end: { kind: 'hung' }, worlds: 1 })
  })
})
