import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tryOut } from '../../simulation/planted/trial.ts'

/** What a run of the simulator is taken for, by what it says and how it ends. */

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trial-'))
  await mkdir(join(folder, 'simulation'))
})

afterAll(() => rm(folder, { recursive: true }))

const tried = async (program: string, signal = new AbortController().signal) => {
  await writeFile(join(folder, 'simulation', 'main.ts'), program)
  return tryOut(folder, { lifecycles: 3, seed: 7 }, signal)
}

describe('a run of the simulator', () => {
  test('that ends well has seen nothing', async () => {
    expect(await tried("console.log('invariant 5 held')")).toEqual({ kind: 'clean' })
  })

  test('is given its lifecycles and its seed', async () => {
    const program = `
      const wanted = process.argv.slice(2).join(' ')
      process.exitCode = wanted === '--lifecycles 3 --seed 7' ? 0 : 1`
    expect(await tried(program)).toEqual({ kind: 'clean' })
  })

  test('that complains has caught something, by each invariant it names', async () => {
    const program = `
      console.log('invariant 20: amber has counted too much')
      console.log('invariant 5: failed is not final')
      console.log('invariant 20: and once more')
      process.exitCode = 1`
    expect(await tried(program)).toEqual({ kind: 'caught', invariants: [5, 20], restless: false })
  })

  test('that finds a world without rest has caught something', async () => {
    expect(await tried("throw new Error('The world never comes to rest')")).toEqual({
      kind: 'caught',
      invariants: [],
      restless: true,
    })
  })

  test('that ends with an error of its own has crashed', async () => {
    expect(await tried("throw new TypeError('a is not a function')")).toEqual({
      kind: 'crashed',
      says: 'TypeError: a is not a function',
    })
  })

  test('that never ends and says nothing has caught nothing', async () => {
    const ending = new AbortController()
    const hung = tried('setInterval(() => undefined, 1000)', ending.signal)
    ending.abort()
    expect(await hung).toEqual({ kind: 'hung' })
  })
})
