import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { describe, expect, test } from 'vitest'
import { type Mutant, mutate } from '../../simulation/mutants/mutant.ts'
import { mutants } from '../../simulation/mutants/mutants.ts'

describe('mutants', () => {
  test('cover every area with at least five each', () => {
    const areas = Map.groupBy(mutants, ({ area }) => area)
    const sizes = [...areas].map(([area, { length }]) => [area, length >= 5])
    expect(Object.fromEntries(sizes)).toEqual({
      idempotency: true,
      money: true,
      order: true,
      retry: true,
      signing: true,
      tenancy: true,
      timers: true,
    })
    expect(mutants.length).toBeGreaterThanOrEqual(92)
  })

  test('have unique names and break an invariant', () => {
    const names = mutants.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(mutants.filter(({ invariants }) => invariants.length === 0)).toEqual([])
  })

  test.each(mutants)('$name replaces text that occurs once and compiles', (mutant) => {
    const source = readFileSync(mutant.file, 'utf8')
    const mutated = mutate(source, mutant)
    expect(mutated).not.toBe(source)
    expect(() => stripTypeScriptTypes(mutated)).not.toThrow()
  })

  test('are rejected unless their text occurs exactly once', () => {
    const mutant = { ...mutants[0], file: 'a.ts', from: 'one', to: 'other' } as Mutant
    expect(() => mutate('two', mutant)).toThrow('0 times')
    expect(() => mutate('one and one', mutant)).toThrow('2 times')
  })
})
