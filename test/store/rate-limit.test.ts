import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import fc from 'fast-check'
import { beforeAll, expect, test, vi } from 'vitest'
import { countRequest, unused } from '../../shared/store/rate-limit.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)

const at = new Date('2026-11-21T12:00:30.000Z')
const nextMinute = new Date('2026-11-21T12:01:00.000Z')
const reset = nextMinute.getTime() / 1000

test('a window per scope counts down to zero, is then exceeded, and restarts each minute', async () => {
  const seen = []
  for (let n = 0; n < 4; n += 1) seen.push(await countRequest('charge#a', 3, at))
  expect(seen).toEqual([
    { limit: 3, remaining: 2, reset, exceeded: false },
    { limit: 3, remaining: 1, reset, exceeded: false },
    { limit: 3, remaining: 0, reset, exceeded: false },
    { limit: 3, remaining: 0, reset, exceeded: true },
  ])
  expect(await countRequest('charge#a', 3, nextMinute)).toMatchObject({ remaining: 2 })
  expect(await countRequest('charge#b', 3, at)).toMatchObject({ remaining: 2 })
  expect(unused(60, at)).toEqual({ limit: 60, remaining: 60, reset, exceeded: false })
})

/** The counters of a table that adds atomically, with replies that overtake each other. */
const counters = new Map<string, number>()
const add = async ({ Key, ExpressionAttributeValues }: UpdateCommandInput) => {
  const requests = (counters.get(Key?.pk) ?? 0) + Number(ExpressionAttributeValues?.[':one'])
  counters.set(Key?.pk, requests)
  for (let turns = requests % 7; turns > 0; turns -= 1) await undefined
  return { Attributes: { requests } }
}

/** A worker as Lambda has it: modules, client and memory of its own. */
const newWorker = async (): Promise<typeof countRequest> => {
  vi.resetModules()
  const { table } = await import('../../shared/store/table.ts')
  mockClient(table).on(UpdateCommand).callsFake(add)
  return (await import('../../shared/store/rate-limit.ts')).countRequest
}

const WORKERS_MAX = 64

/** Requests that arrive at once, each at one of the workers. */
const burst = fc.array(fc.nat(WORKERS_MAX - 1), { minLength: 1, maxLength: 300, size: 'max' })

const traffic = fc.record({
  workers: fc.integer({ min: 1, max: WORKERS_MAX }),
  limit: fc.integer({ min: 1, max: 1_000 }),
  bursts: fc.array(burst, { minLength: 1, maxLength: 10, size: 'max' }),
})

test('any traffic over 1 to 64 workers is served up to the limit and never beyond', async () => {
  const all: (typeof countRequest)[] = []
  while (all.length < WORKERS_MAX) all.push(await newWorker())
  let runs = 0
  await fc.assert(
    fc.asyncProperty(traffic, async ({ workers, limit, bursts }) => {
      runs += 1
      const scope = `property#${runs}`
      let sent = 0
      let served = 0
      for (const requests of bursts) {
        const rates = await Promise.all(
          requests.map((n) => (all[n % workers] as typeof countRequest)(scope, limit, at)),
        )
        sent += requests.length
        served += rates.filter(({ exceeded }) => !exceeded).length
        expect(served).toBe(Math.min(limit, sent))
      }
    }),
    { numRuns: 50 },
  )
})
