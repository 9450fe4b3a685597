import { beforeAll, expect, test } from 'vitest'
import { complaintsOf } from '../../simulation/invariants/all.ts'
import { type Life, witnessLife } from './one-life.ts'

let life: Life

beforeAll(async () => {
  life = await witnessLife()
})

test('a life of the real functions in which nothing goes wrong: no complaint', () => {
  expect(complaintsOf(life.witnessed)).toEqual([])
})
