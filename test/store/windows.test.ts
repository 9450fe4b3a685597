import { beforeAll, expect, test } from 'vitest'
import { countRequest, untouched } from '../../shared/store/windows.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)

const at = new Date('2026-11-21T12:00:30.000Z')
const nextMinute = new Date('2026-11-21T12:01:00.000Z')
const reset = nextMinute.getTime() / 1000

test('a window counts down to nothing, then is exceeded, and begins anew each minute', async () => {
  const seen = []
  for (let n = 0; n < 4; n += 1) seen.push(await countRequest('charge#a', 3, at))
  expect(seen).toEqual([
    { limit: 3, remaining: 2, reset, exceeded: false },
    { limit: 3, remaining: 1, reset, exceeded: false },
    { limit: 3, remaining: 0, reset, exceeded: false },
    { limit: 3, remaining: 0, reset, exceeded: true },
  ])
  expect(await countRequest('charge#a', 3, nextMinute)).toMatchObject({ remaining: 2 })
})

test('fifty requests at once are all counted', async () => {
  const rates = await Promise.all(
    Array.from({ length: 50 }, () => countRequest('charge#b', 20, at)),
  )
  expect(rates.filter(({ exceeded }) => exceeded)).toHaveLength(30)
})

test('scopes are counted apart', async () => {
  await countRequest('charge#c', 1, at)
  expect(await countRequest('charge#d', 1, at)).toMatchObject({ exceeded: false })
})

test('who was not counted has the whole limit', () => {
  expect(untouched(60, at)).toEqual({ limit: 60, remaining: 60, reset, exceeded: false })
})
