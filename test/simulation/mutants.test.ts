import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { describe, expect, test } from 'vitest'
import { planted } from '../../simulation/mutants/mutant.ts'
import { faults } from '../../simulation/mutants/mutants.ts'

/** The faults that are planted in a copy of the product, to see that the simulated world tells. */

const sourceOf = (file: string): string => readFileSync(file, 'utf8')

describe('planted faults', () => {
  test('there are many, in all that money, order, tenancy, retries and signing are made of', () => {
    const areas = Map.groupBy(faults, ({ area }) => area)
    const few = [...areas].filter(([, ofArea]) => ofArea.length < 5).map(([area]) => area)
    expect(faults.length).toBeGreaterThanOrEqual(48)
    expect([...areas.keys()].sort()).toEqual([
      'idempotency',
      'money',
      'order',
      'retry',
      'signing',
      'tenancy',
      'timers',
    ])
    expect(few).toEqual([])
  })

  test('each has a name of its own, and breaks an invariant', () => {
    const names = faults.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(faults.filter(({ invariants }) => invariants.length === 0)).toEqual([])
  })

  test.each(faults.map((fault) => [fault.name, fault] as const))(
    '%s has its place in the source, once, and can be run',
    (_, fault) => {
      const source = sourceOf(fault.file)
      const changed = planted(source, fault)
      expect(changed).not.toBe(source)
      expect(() => stripTypeScriptTypes(changed)).not.toThrow()
    },
  )

  test('a fault whose place is gone, or is not the only one, is refused', () => {
    const fault = {
      ...faults[0],
      file: 'a.ts',
      from: 'one',
      to: 'other',
    } as (typeof faults)[number]
    expect(() => planted('two', fault)).toThrow('0 times')
    expect(() => planted('one and one', fault)).toThrow('2 times')
  })
})
