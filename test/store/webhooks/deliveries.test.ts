import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Reference } from '../../../shared/domain/ids.ts'
import type { ProviderId } from '../../../shared/domain/providers/provider.ts'
import type { Outcome } from '../../../shared/domain/webhooks/attempt.ts'
import {
  appendAttempt,
  type Delivery,
  newDelivery,
  recordAttempt,
  redeliver,
} from '../../../shared/domain/webhooks/delivery.ts'
import { keys } from '../../../shared/store/keys.ts'
import { type Item, read } from '../../../shared/store/table.ts'
import {
  countUndelivered,
  findAttempt,
  findDeliveries,
  findDelivery,
  listAttempts,
  listDeliveries,
  listUndelivered,
  replaceDelivery,
} from '../../../shared/store/webhooks/deliveries.ts'
import { atOnce, inSeconds, NOON, pendingDebit, providerId } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

const fresh = (event: Partial<Delivery> = {}): Delivery => {
  const { reference, provider } = pendingDebit().facts
  const { n = 0, occurredAt = NOON } = event
  return {
    ...newDelivery({ reference, n, type: 'created', provider, at: occurredAt }, {}),
    ...event,
  }
}

const timing = {
  id: 'dlv_1_a',
  at: NOON,
  milliseconds: 12,
  address: '198.51.100.7',
  sentAs: 'transaction.created',
}

const attempt = (delivery: Delivery, outcome: Outcome, at = NOON): Delivery =>
  recordAttempt(delivery, outcome, { ...timing, at }, 0)

/** Returns an attempt that ends after a concurrent one. */
const rival = (outcome: Outcome) => ({ outcome, timing, random: 0, isRequested: false })

const refused = (delivery: Delivery, at = NOON) =>
  attempt(delivery, { kind: 'unreached', cause: 'refused' }, at)
const taken = (delivery: Delivery) => attempt(delivery, { kind: 'answered', code: 200, body: 'ok' })
const rejected = (delivery: Delivery) =>
  attempt(delivery, { kind: 'answered', code: 410, body: '' })

const itemOf = ({ reference, n }: Delivery) => read<Item>(keys.delivery(reference, n))

describe('records', () => {
  test.each([
    ['failed', refused],
    ['delivered', taken],
    ['abandoned', rejected],
    ['asked for', (delivery: Delivery) => redeliver(delivery, inSeconds(5))],
  ])('a delivery is read back: %s', async (_what, after) => {
    const written = after(fresh())
    expect(await replaceDelivery(undefined, written)).toBe(true)
    expect(await findDelivery(written.reference, 0)).toEqual(written)
  })

  test('an event without an attempt has no record', async () => {
    expect(await findDelivery(pendingDebit().facts.reference, 0)).toBeUndefined()
  })

  test('the deliveries of a debit are listed in the order of its events', async () => {
    const first = refused(fresh())
    for (const n of [2, 0, 11, 1]) await replaceDelivery(undefined, { ...first, n })
    expect((await listDeliveries(first.reference)).map(({ n }) => n)).toEqual([0, 1, 2, 11])
  })

  test('deliveries of many events are found, without missing ones', async () => {
    const there = [refused(fresh()), taken(fresh({ n: 3 }))]
    for (const delivery of there) await replaceDelivery(undefined, delivery)
    const found = await findDeliveries([...there, fresh()])
    expect(found.map(({ reference }) => reference).sort()).toEqual(
      there.map(({ reference }) => reference).sort(),
    )
  })
})

describe('optimistic locking', () => {
  test('one of two workers records a first attempt', async () => {
    const before = fresh()
    const results = await Promise.all(
      [refused(before), taken(before)].map((after) => replaceDelivery(undefined, after)),
    )
    expect(results.sort()).toEqual([false, true])
  })

  test('one of twenty workers records a later attempt', async () => {
    const first = refused(fresh())
    await replaceDelivery(undefined, first)
    const results = await atOnce(20, (n) =>
      replaceDelivery(first, n % 2 === 0 ? refused(first) : taken(first)),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    expect((await findDelivery(first.reference, 0))?.attemptCount).toBe(2)
  })

  test('an attempt is written once, after the previous one', async () => {
    const first = refused(fresh())
    const second = refused(first)
    expect(await replaceDelivery(first, second)).toBe(false)
    expect(await replaceDelivery(undefined, first)).toBe(true)
    expect(await replaceDelivery(first, second)).toBe(true)
    expect(await replaceDelivery(first, second)).toBe(false)
    expect(await findDelivery(first.reference, 0)).toEqual(second)
  })

  test.each([
    ['failed', refused],
    ['delivered', taken],
    ['abandoned', rejected],
  ])('a redelivery between read and write is not overwritten: %s', async (_status, after) => {
    const read = after(fresh())
    await replaceDelivery(undefined, read)
    const asked = redeliver(read, inSeconds(60))
    expect(await replaceDelivery(read, asked)).toBe(true)
    expect(await replaceDelivery(read, refused(read))).toBe(false)
    expect(await findDelivery(read.reference, 0)).toEqual(asked)
  })

  test('the second of two concurrent redeliveries is rejected', async () => {
    const read = rejected(fresh())
    await replaceDelivery(undefined, read)
    expect(await replaceDelivery(read, redeliver(read, inSeconds(1)))).toBe(true)
    expect(await replaceDelivery(read, redeliver(read, inSeconds(2)))).toBe(false)
  })

  test('no attempt exceeds the maximum', async () => {
    const first = refused(fresh({ attemptsMax: 3 }))
    await replaceDelivery(undefined, first)
    expect(await replaceDelivery(first, { ...refused(first), attemptCount: 4 })).toBe(false)
    const spent = { ...first, attemptCount: 3 }
    await replaceDelivery(first, spent)
    expect(await replaceDelivery(spent, refused(spent))).toBe(false)
    const asked = redeliver(spent, NOON)
    expect(await replaceDelivery(spent, asked)).toBe(true)
    expect(await replaceDelivery(asked, refused(asked))).toBe(true)
  })

  test('an attempt that two workers made raises the maximum in its write', async () => {
    const spent = refused(fresh({ attemptsMax: 1 }))
    await replaceDelivery(undefined, spent)
    const after = appendAttempt(spent, rival({ kind: 'unreached', cause: 'refused' }))
    expect(await replaceDelivery(spent, after)).toBe(true)
    expect(await findDelivery(spent.reference, 0)).toEqual(after)
  })
})

describe('attempt log', () => {
  const walk = async (attempts: number): Promise<Delivery> => {
    let before: Delivery | undefined
    let delivery = fresh({ attemptsMax: attempts })
    for (let n = 1; n <= attempts; n += 1) {
      delivery = refused(delivery, inSeconds(n))
      expect(await replaceDelivery(before, delivery)).toBe(true)
      before = delivery
    }
    return delivery
  }

  test('each attempt is stored under its number, and the record has the last one', async () => {
    const delivery = await walk(12)
    expect(await listAttempts(delivery, 100)).toEqual(
      Array.from({ length: 12 }, (_, n) => ({
        ...timing,
        number: n + 1,
        at: inSeconds(n + 1),
        responseCode: null,
        responseBody: null,
        cause: 'refused',
      })),
    )
    expect((await findDelivery(delivery.reference, 0))?.last?.number).toBe(12)
    for (const number of [1, 11, 12]) {
      expect(await findAttempt(delivery, number)).toMatchObject({ number })
    }
    expect(await findAttempt(delivery, 13)).toBeUndefined()
  })

  test('attempts keep their order beyond ninety-nine', async () => {
    const delivery = await walk(102)
    const newest = await listAttempts(delivery, 20)
    expect(newest.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, n) => n + 83))
  })

  test('the events of one debit have separate logs', async () => {
    const first = refused(fresh())
    for (const n of [0, 3, 11]) {
      await replaceDelivery(undefined, { ...first, n })
      const second = { ...refused(first), n }
      await replaceDelivery({ ...first, n }, second)
      expect(await listAttempts(second, 20)).toHaveLength(2)
    }
  })

  test('a first attempt and a redelivery request store no earlier attempt', async () => {
    const first = refused(fresh())
    await replaceDelivery(undefined, first)
    await replaceDelivery(first, redeliver(first, NOON))
    expect(await listAttempts(first, 20)).toEqual([first.last])
    expect((await findDelivery(first.reference, 0))?.last).toEqual(first.last)
  })

  test('an earlier attempt expires after 30 days, and the record never', async () => {
    const { reference } = await walk(2)
    const attempt = await read<Item>(keys.attempt(reference, 0, 1))
    expect(attempt?.expiresAt).toBe(inSeconds(1 + 30 * 86_400).getTime() / 1000)
    expect(await itemOf(fresh({ reference }))).not.toHaveProperty('expiresAt')
  })
})

describe('undelivered events', () => {
  const span = { since: NOON, until: inSeconds(3600) }
  const all = { after: null, limit: 1_000 }

  const names = (positions: readonly { reference: Reference; n: number }[]): string[] =>
    positions.map(({ reference, n }) => `${reference}#${n}`)

  const listed = async (provider: ProviderId, within = span): Promise<string[]> =>
    names(await listUndelivered(provider, within, all))

  test('an event is listed until it is delivered', async () => {
    const provider = providerId('life')
    const first = refused(fresh({ provider }))
    const abandoned = rejected(first)
    const asked = redeliver(abandoned, NOON)
    const delivered = taken(asked)
    const again = redeliver(delivered, inSeconds(9))
    const steps: [Delivery | undefined, Delivery, boolean][] = [
      [undefined, first, true],
      [first, abandoned, true],
      [abandoned, asked, true],
      [asked, delivered, false],
      [delivered, again, false],
      [again, rejected(again), false],
    ]
    for (const [before, after, isListed] of steps) {
      expect(await replaceDelivery(before, after)).toBe(true)
      expect(await listed(provider), after.status).toEqual(isListed ? names([first]) : [])
    }
  })

  test('an event leaves the list when a concurrent attempt succeeds', async () => {
    const provider = providerId('after-all')
    const first = rejected(fresh({ provider }))
    await replaceDelivery(undefined, first)
    const delivered = appendAttempt(first, rival({ kind: 'answered', code: 200, body: '' }))
    expect(await replaceDelivery(first, delivered)).toBe(true)
    expect(await listed(provider)).toEqual([])
  })

  test("the list has one provider's events of a span, including both ends", async () => {
    const provider = providerId('span')
    const times = [-1, 0, 1, 3_599_999, 3_600_000, 3_600_001]
    const failed = times.map((ms) =>
      refused(fresh({ provider, occurredAt: inSeconds(ms / 1_000) })),
    )
    for (const delivery of failed) await replaceDelivery(undefined, delivery)
    await replaceDelivery(undefined, refused(fresh({ provider: providerId('spa') })))
    expect(await listed(provider)).toEqual(names(failed.slice(1, 5)))
    expect(await countUndelivered(provider, span)).toBe(4)
    expect(await listed(provider, { since: NOON, until: NOON })).toEqual(names(failed.slice(1, 2)))
  })

  test('pages list the oldest events first, without loss or repetition', async () => {
    let providers = 0
    // Few instants and many events, so that most share their millisecond with others.
    const instants = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 25 })
    const pageLengths = fc.integer({ min: 1, max: 7 })
    const property = fc.asyncProperty(instants, pageLengths, async (milliseconds, limit) => {
      providers += 1
      const provider = providerId(`paged-${providers}`)
      const { reference } = pendingDebit().facts
      const owned = milliseconds.map((ms, n) =>
        refused(
          fresh({
            provider,
            occurredAt: inSeconds(ms / 1_000),
            // Some events are of one debit, as those of its opening are.
            ...(n % 2 === 0 ? { reference, n } : {}),
          }),
        ),
      )
      await Promise.all(owned.map((delivery) => replaceDelivery(undefined, delivery)))
      const seen: string[] = []
      let after: string | null = null
      for (;;) {
        const page = await listUndelivered(provider, span, { after, limit })
        seen.push(...names(page))
        after = page.at(-1)?.byTime ?? after
        if (page.length < limit) break
      }
      expect(seen.toSorted()).toEqual(names(owned).sort())
      const occurred = new Map(owned.map((one) => [names([one])[0], one.occurredAt.getTime()]))
      const times = seen.map((name) => occurred.get(name) ?? 0)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    })
    await fc.assert(property, { numRuns: 25 })
  }, 60_000)

  test('an event that is added after a position is on the next page', async () => {
    const provider = providerId('goes-on')
    const first = refused(fresh({ provider, occurredAt: inSeconds(1) }))
    const second = refused(fresh({ provider, occurredAt: inSeconds(2) }))
    await replaceDelivery(undefined, first)
    const [position] = await listUndelivered(provider, span, { after: null, limit: 1 })
    await replaceDelivery(undefined, second)
    const after = position?.byTime ?? null
    expect(names(await listUndelivered(provider, span, { after, limit: 1 }))).toEqual(
      names([second]),
    )
  })
})

describe('sweep of due attempts', () => {
  test('the sweep checks an attempt two minutes after its due time', async () => {
    const first = refused(fresh())
    await replaceDelivery(undefined, first)
    expect(await itemOf(first)).toMatchObject({
      work: expect.stringMatching(/^WATCH#[0-7]$/),
      due: inSeconds(2.012 + 120).toISOString(),
    })
    for (const after of [taken(first), rejected(first)]) {
      const other = { ...after, reference: pendingDebit().facts.reference }
      await replaceDelivery(undefined, other)
      expect(await itemOf(other)).not.toHaveProperty('work')
      expect(await itemOf(other)).not.toHaveProperty('due')
    }
  })
})
