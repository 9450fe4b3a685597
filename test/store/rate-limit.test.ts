import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import type { UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  type CountRequest,
  countRequest,
  leasedCounter,
  type RateStanding,
  unused,
} from '../../shared/store/rate-limit.ts'
import { table } from '../../shared/store/table.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)

const at = new Date('2026-11-21T12:00:30.000Z')
const nextMinute = new Date('2026-11-21T12:01:00.000Z')
const reset = nextMinute.getTime() / 1000

test.each([
  ['exact', () => countRequest],
  ['leased', leasedCounter],
])('a window of the %s counter counts down, is then exceeded, and restarts', async (...row) => {
  const [name, newCounter] = row
  const count = newCounter()
  const scope = `charge#${name}`
  const seen = []
  for (let n = 0; n < 4; n += 1) seen.push(await count(scope, 3, at))
  expect(seen).toEqual([
    { limit: 3, remaining: 2, reset, exceeded: false },
    { limit: 3, remaining: 1, reset, exceeded: false },
    { limit: 3, remaining: 0, reset, exceeded: false },
    { limit: 3, remaining: 0, reset, exceeded: true },
  ])
  // The operator raises the limit.
  expect(await count(scope, 30, at)).toMatchObject({ exceeded: false })
  expect(await count(scope, 3, nextMinute)).toMatchObject({ remaining: 2 })
  // A request that began earlier counts in its own minute.
  expect(await count(scope, 3, at)).toMatchObject({ exceeded: true })
  expect(await count(`${scope}#b`, 3, at)).toMatchObject({ remaining: 2 })
  expect(unused(60, at)).toEqual({ limit: 60, remaining: 60, reset, exceeded: false })
})

describe('leased tokens', () => {
  type Window = { requests: number; floating: number }

  /** The windows of a table that adds atomically, with replies that overtake each other. */
  const windows = new Map<string, Window>()
  let writes = 0

  const update = async ({ Key, ExpressionAttributeValues = {} }: UpdateCommandInput) => {
    writes += 1
    const { ':tokens': tokens, ':change': change, ':max': max } = ExpressionAttributeValues
    const { requests, floating } = windows.get(Key?.pk) ?? { requests: 0, floating: 0 }
    const isRejected = max !== undefined && floating > max
    const window = isRejected
      ? { requests, floating }
      : { requests: requests + tokens, floating: floating + change }
    windows.set(Key?.pk, window)
    for (let turns = requests % 7; turns > 0; turns -= 1) await undefined
    if (isRejected) throw new ConditionalCheckFailedException({ message: '', $metadata: {} })
    return { Attributes: { ...window } }
  }

  beforeAll(() => {
    const { send } = table
    table.send = (({ input }: { input: UpdateCommandInput }) => update(input)) as typeof send
    return () => {
      table.send = send
    }
  })

  const workersOf = (count: number): CountRequest[] =>
    Array.from({ length: count }, () => leasedCounter())

  /** Requests that arrive at once, each at one of the workers, some seconds after the previous burst. */
  const burst = fc.record({
    seconds: fc.integer({ min: 0, max: 20 }),
    workers: fc.array(fc.nat(63), { minLength: 1, maxLength: 400, size: 'max' }),
  })

  const traffic = fc.record({
    workers: fc.integer({ min: 1, max: 64 }),
    limit: fc.integer({ min: 1, max: 2_000 }),
    isAtOnce: fc.boolean(),
    bursts: fc.array(burst, { minLength: 1, maxLength: 20, size: 'max' }),
  })

  const inMinute = (minute: number, seconds: number): Date =>
    new Date(at.getTime() - 30_000 + minute * 60_000 + seconds * 1_000)

  test('the tokens serve 95 % of a limit before the first rejection, and never more than the limit', async () => {
    let scopes = 0
    await fc.assert(
      fc.asyncProperty(traffic, async ({ workers: count, limit, isAtOnce, bursts }) => {
        scopes += 1
        const scope = `property#${scopes}`
        const workers = workersOf(count)
        const shown = workers.map(() => new Map<number, number>())
        const implausible: number[] = []
        let seconds = 0
        const served = new Map<number, number>()
        for (const { seconds: later, workers: places } of bursts) {
          seconds += later
          const minute = Math.floor(seconds / 60)
          const now = inMinute(minute, seconds % 60)
          const send = async (place: number): Promise<RateStanding> => {
            const standing = await (workers[place % count] as CountRequest)(scope, limit, now)
            const { remaining } = standing
            const previous = shown[place % count]?.get(minute) ?? limit
            if (remaining < 0 || remaining > previous) implausible.push(remaining)
            shown[place % count]?.set(minute, remaining)
            return standing
          }
          const standings: RateStanding[] = []
          if (isAtOnce) standings.push(...(await Promise.all(places.map(send))))
          else for (const place of places) standings.push(await send(place))
          const before = served.get(minute) ?? 0
          const all = before + standings.filter(({ exceeded }) => !exceeded).length
          served.set(minute, all)
          expect(all).toBeLessThanOrEqual(limit)
          if (all < before + standings.length) expect(all).toBeGreaterThanOrEqual(0.95 * limit)
          const { floating = 0 } =
            windows.get(`WINDOW#${scope}#${inMinute(minute, 0).getTime() / 1000}`) ?? {}
          expect(floating).toBeLessThanOrEqual(limit / 20)
        }
        expect(implausible).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  test.each([
    [1, 16, 1_000, 0.05],
    [2, 16, 1_000, 0.1],
    [8, 16, 1_000, 0.2],
    [64, 16, 1_000, 1],
    [1, 1, 1_000, 0.2],
    [8, 64, 5_000, 0.1],
  ])('all %i workers with %i requests/s, within %i, cost at most %f writes', async (...row) => {
    const [count, perSecond, limit, most] = row
    const workers = workersOf(count)
    const scope = `steady#${row}`
    writes = 0
    const requests = perSecond * 60 * 5
    for (let n = 0; n < requests; n += 1) {
      // Each request goes to a pseudo-random worker.
      const place = ((n * 2_654_435_761) % 4_294_967_296) % count
      const now = inMinute(0, n / perSecond)
      const { exceeded } = await (workers[place] as CountRequest)(scope, limit, now)
      expect(exceeded).toBe(false)
    }
    expect(writes / requests).toBeLessThan(most)
  })

  test('a request above the limit reads no further counter', async () => {
    const [count = countRequest] = workersOf(1)
    const standings: RateStanding[] = []
    while (standings.length < 100) standings.push(await count('full', 100, at))
    expect(standings.filter(({ exceeded }) => exceeded)).toEqual([])
    expect(await count('full', 100, at)).toMatchObject({ remaining: 0, exceeded: true })
    writes = 0
    expect(await count('full', 100, at)).toMatchObject({ remaining: 0, exceeded: true })
    expect(writes).toBe(0)
  })

  test('the counters of a thousand scopes are remembered, the latest used', async () => {
    const [count = countRequest] = workersOf(1)
    const use = async (scope: string, times: number) => {
      for (let n = 0; n < times; n += 1) await count(scope, 1_000, at)
    }
    await use('hot', 20)
    await use('cold', 20)
    await use('hot', 1)
    for (let n = 0; n < 999; n += 1) await use(`other#${n}`, 1)
    writes = 0
    await use('hot', 1)
    expect(writes).toBe(0)
    // Its tokens are lost.
    await use('cold', 1)
    expect(writes).toBe(1)
  })
})
