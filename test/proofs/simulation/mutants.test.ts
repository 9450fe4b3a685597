import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mutants, mutate } from '../../../proofs/simulation/mutants/mutants.ts'
import { performTasks } from '../../../proofs/simulation/worker-pool.ts'
import { newFolder } from '../../support/folders.ts'

test('the mutants have unique names', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
})

test.each(mutants)('the mutant $name replaces text that occurs once and compiles', (mutant) => {
  const source = readFileSync(mutant.file, 'utf8')
  const mutated = mutate(source, mutant)
  expect(mutated).not.toBe(source)
  expect(() => stripTypeScriptTypes(mutated)).not.toThrow()
})

const folder = newFolder()
mkdirSync(join(folder, 'proofs/simulation/crash-points'), { recursive: true })

/** Performs three tasks in a worker that runs a program; returns their seeds. */
const perform = async (program: string, taskMax = 60_000): Promise<number[]> => {
  writeFileSync(join(folder, 'proofs/simulation/crash-points/worker.ts'), program)
  const seeds: number[] = []
  const tasks = [7, 8, 9].map(
    (seed) => ({ kind: 'run', seed, debits: 1, scenario: undefined }) as const,
  )
  const onResult = (_: unknown, { seed }: { seed: number }) => seeds.push(seed) < 2
  await performTasks(tasks.values(), onResult, { size: 1, folder, taskMax })
  return seeds
}

test('the workers perform tasks until one fails', async () => {
  const program = `process.on('message', () => process.send({ kind: 'failure' }))
      process.send('ready')`
  expect(await perform(program)).toEqual([7, 8])
})

test.each([
  ['exited with 1 during {"kind":"run","seed":7', "process.once('message', () => process.exit(1))"],
  [
    'hangs during {"kind":"run","seed":7',
    "process.once('message', () => setInterval(() => 0, 99))",
  ],
])('the workers are reported if one %s', async (message, program) => {
  const result = perform(`${program}; process.send('ready')`, 2_000)
  await expect(result).rejects.toThrow(message)
})
