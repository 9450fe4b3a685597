import { beforeAll, expect, test } from 'vitest'
import type { Reference } from '../../../shared/domain/ids.ts'
import type { ProviderId } from '../../../shared/domain/providers/provider.ts'
import type { Outcome } from '../../../shared/domain/webhooks/attempt.ts'
import {
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
import { inSeconds, NOON, pendingDebit, providerId, timing } from '../../support/examples.ts'
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

const attempt = (delivery: Delivery, outcome: Outcome, at = NOON): Delivery =>
  recordAttempt(delivery, outcome, { ...timing, at }, 0)

const refused = (delivery: Delivery, at = NOON) =>
  attempt(delivery, { kind: 'unreached', cause: 'refused' }, at)
const taken = (delivery: Delivery) => attempt(delivery, { kind: 'answered', code: 200, body: 'ok' })
const rejected = (delivery: Delivery) =>
  attempt(delivery, { kind: 'answered', code: 410, body: '' })

const itemOf = ({ reference, n }: Delivery) => read<Item>(keys.delivery(reference, n))

test('the deliveries of a debit are listed in the order of its events', async () => {
  const first = refused(fresh())
  for (const n of [2, 0, 11, 1]) await replaceDelivery(undefined, { ...first, n })
  expect((await listDeliveries(first.reference)).map(({ n }) => n)).toEqual([0, 1, 2, 11])
  const found = await findDeliveries([{ ...first, n: 11 }, { ...first, n: 3 }, fresh()])
  expect(found).toEqual([{ ...first, n: 11 }])
})

test.each([
  ['failed', refused],
  ['delivered', taken],
  ['abandoned', rejected],
  ['requested before', (delivery: Delivery) => redeliver(refused(delivery), NOON)],
])('a redelivery between read and write is not overwritten: %s', async (_status, after) => {
  const read = after(fresh())
  await replaceDelivery(undefined, read)
  const asked = redeliver(read, inSeconds(60))
  expect(await replaceDelivery(read, asked)).toBe(true)
  expect(await replaceDelivery(read, refused(read))).toBe(false)
  expect(await replaceDelivery(read, redeliver(read, inSeconds(61)))).toBe(false)
  expect(await findDelivery(read.reference, 0)).toEqual(asked)
})

test('each attempt is stored under its number for 30 days, and the record keeps the last one', async () => {
  let delivery = fresh({ attemptsMax: 102 })
  for (let n = 1; n <= 102; n += 1) {
    const next = refused(delivery, inSeconds(n))
    expect(await replaceDelivery(n === 1 ? undefined : delivery, next)).toBe(true)
    delivery = next
  }
  const cause = { responseCode: null, responseBody: null, cause: 'refused' }
  const newest = Array.from({ length: 20 }, (_, n) => n + 83)
  expect(await listAttempts(delivery, 20)).toEqual(
    newest.map((number) => ({ ...timing, ...cause, number, at: inSeconds(number) })),
  )
  expect((await findDelivery(delivery.reference, 0))?.last?.number).toBe(102)
  for (const number of [1, 101, 102]) {
    expect(await findAttempt(delivery, number)).toMatchObject({ number })
  }
  expect(await findAttempt(delivery, 103)).toBeUndefined()
  const first = await read<Item>(keys.attempt(delivery.reference, 0, 1))
  expect(first?.expiresAt).toBe(inSeconds(1 + 30 * 86_400).getTime() / 1000)
  expect(await itemOf(delivery)).not.toHaveProperty('expiresAt')
})

const span = { since: NOON, until: inSeconds(3600) }
const all = { after: null, limit: 1_000 }

const names = (positions: readonly { reference: Reference; n: number }[]): string[] =>
  positions.map(({ reference, n }) => `${reference}#${n}`)

const listed = async (provider: ProviderId, within = span): Promise<string[]> =>
  names(await listUndelivered(provider, within, all))

test("the list has one provider's events of a span, including both ends", async () => {
  const provider = providerId('span')
  const times = [-1, 0, 1, 3_599_999, 3_600_000, 3_600_001]
  const failed = times.map((ms) => refused(fresh({ provider, occurredAt: inSeconds(ms / 1_000) })))
  for (const delivery of failed) await replaceDelivery(undefined, delivery)
  await replaceDelivery(undefined, refused(fresh({ provider: providerId('spa') })))
  expect(await listed(provider)).toEqual(names(failed.slice(1, 5)))
  expect(await countUndelivered(provider, span)).toEqual({ count: 4, isAtLeast: false })
  expect(await listed(provider, { since: NOON, until: NOON })).toEqual(names(failed.slice(1, 2)))
})

test('the pages list the oldest events first, without loss or repetition', async () => {
  const provider = providerId('paged')
  const { reference } = pendingDebit().facts
  // Several events have the same millisecond, and some are of one debit.
  const owned = [4, 0, 1, 1, 1, 0, 4, 2, 1].map((ms, n) =>
    refused(
      fresh({
        provider,
        occurredAt: inSeconds(ms / 1_000),
        ...(n % 2 === 0 ? { reference, n } : {}),
      }),
    ),
  )
  for (const delivery of owned) await replaceDelivery(undefined, delivery)
  const occurred = new Map(owned.map((one) => [names([one])[0], one.occurredAt.getTime()]))
  for (const limit of [1, 2, 4, 9, 10]) {
    const seen: string[] = []
    for (let after: string | null = null, isLast = false; !isLast; ) {
      const page = await listUndelivered(provider, span, { after, limit })
      seen.push(...names(page))
      after = page.at(-1)?.byTime ?? after
      isLast = page.length < limit
    }
    expect(seen.toSorted()).toEqual(names(owned).sort())
    const times = seen.map((name) => occurred.get(name) ?? 0)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  }
})

test('the sweep checks an attempt two minutes after its due time', async () => {
  const first = refused(fresh())
  await replaceDelivery(undefined, first)
  expect(await itemOf(first)).toMatchObject({
    work: expect.stringMatching(/^WATCH#[0-9]{1,2}$/),
    due: inSeconds(2.012 + 120).toISOString(),
  })
  for (const after of [taken(first), rejected(first)]) {
    const other = { ...after, reference: pendingDebit().facts.reference }
    await replaceDelivery(undefined, other)
    expect(await itemOf(other)).not.toHaveProperty('work')
    expect(await itemOf(other)).not.toHaveProperty('due')
  }
})
