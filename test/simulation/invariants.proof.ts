import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { complaintsOf, invariants } from '../../simulation/invariants/all.ts'
import { type Life, witnessLife } from './one-life.ts'
import { inCharges } from './planted-charges.ts'
import { inEvents } from './planted-events.ts'
import { inHistories } from './planted-histories.ts'
import { inSettlement } from './planted-settlement.ts'

/** The invariants complain of nothing that the service does, and of each fault that is planted. */

const faults = [...inCharges, ...inHistories, ...inEvents, ...inSettlement]

let life: Life

beforeAll(async () => {
  life = await witnessLife()
}, 180_000)

test('a life of the real functions in which nothing goes wrong: no complaint', () => {
  expect(complaintsOf(life.witnessed)).toEqual([])
})

test.each(faults)('$number: $what', ({ number, plant }) => {
  const world = structuredClone(life.witnessed)
  plant(world as Parameters<typeof plant>[0], life.names)
  const complaining = complaintsOf(world).map(({ invariant }) => invariant)
  expect(complaining).toContain(number)
})

describe('the invariants themselves', () => {
  test('each of them has its fault', () => {
    const planted = new Set(faults.map(({ number }) => number))
    expect(invariants.map(({ number }) => number).filter((one) => !planted.has(one))).toEqual([])
  })

  test('they share nothing with what they judge', () => {
    const folder = 'simulation/invariants'
    const imported = readdirSync(folder).flatMap((file) =>
      [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(/from '([^']+)'/g)].map(
        ([, name = '']) => name,
      ),
    )
    const strangers = imported.filter((name) => !/^(?:node:|\.\/|\.\.\/world\/witness)/.test(name))
    expect(strangers).toEqual([])
  })
})
