import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Delivery } from '../../../shared/domain/webhooks/delivery.ts'
import { newDelivery, recordAttempt, redeliver } from '../../../shared/domain/webhooks/delivery.ts'
import {
  findDeliveries,
  findDelivery,
  findWithDeliveries,
  listDeliveries,
  replaceDelivery,
} from '../../../shared/store/webhooks/deliveries.ts'
import { putReceipt } from '../../../shared/store/webhooks/receipts.ts'
import { inSeconds, NOON, pendingDebit, timing } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

const newOf = (n: number, facts = pendingDebit().facts): Delivery => {
  const { reference, provider } = facts
  const type = n === 0 ? 'created' : 'pending'
  return newDelivery({ reference, n, type, provider, at: NOON }, {})
}

const received = (delivery: Delivery, more: Partial<typeof timing> & { body?: string } = {}) => {
  const { body = '', ...changes } = more
  const outcome = { kind: 'answered', code: 200, body } as const
  const next = recordAttempt(delivery, outcome, { ...timing, ...changes }, 0)
  if (!next.last) throw new Error('The delivery has no attempt')
  return { ...next, last: next.last }
}

test('a receipt gives back the deliveries that it was written with', async () => {
  const events = fc.record({
    numbers: fc.subarray([0, 1], { minLength: 1 }),
    generation: fc.option(fc.integer({ min: 2, max: 9 }), { nil: undefined }),
    attemptsMax: fc.integer({ min: 1, max: 11 }),
    milliseconds: fc.nat(60_000),
    body: fc.string({ unit: 'binary' }),
  })
  await fc.assert(
    fc.asyncProperty(events, async ({ numbers, generation, attemptsMax, milliseconds, body }) => {
      const { facts } = pendingDebit()
      const deliveries = numbers.map((n) =>
        received(
          { ...newOf(n, facts), ...(generation && { generation }), attemptsMax },
          { milliseconds, body },
        ),
      )
      const [first] = deliveries
      expect(first && (await putReceipt(first, deliveries))).toBe(true)
      expect(await listDeliveries(facts.reference)).toEqual(deliveries)
      expect((await findWithDeliveries(facts.reference)).deliveries).toEqual(deliveries)
      expect(await findDeliveries(deliveries)).toEqual(deliveries)
    }),
    { numRuns: 30 },
  )
})

test('an event is in the receipt or has a record, whichever is written first', async () => {
  for (const n of [0, 1]) {
    const delivery = newOf(n)
    const success = received(delivery)
    const due = redeliver(delivery, inSeconds(60))
    expect(await replaceDelivery(undefined, due)).toBe(true)
    expect(await putReceipt(delivery, [success])).toBe(false)
    expect(await findDelivery(delivery.reference, n)).toEqual(due)

    const other = newOf(n)
    const own = received(other)
    expect(await putReceipt(other, [own])).toBe(true)
    expect(await replaceDelivery(undefined, redeliver(other, inSeconds(60)))).toBe(false)
    expect(await findDelivery(other.reference, n)).toEqual(own)
  }
})

test('an event that the receipt lacks gets a record of its own', async () => {
  const [created, pending] = [newOf(0), newOf(1)]
  const { reference } = created
  expect(await putReceipt(created, [received(created)])).toBe(true)
  const due = redeliver({ ...pending, reference }, inSeconds(60))
  expect(await replaceDelivery(undefined, due)).toBe(true)
  expect(await listDeliveries(reference)).toEqual([received(created), due])
})

test('one of two redeliveries of an event in the receipt is stored', async () => {
  const created = newOf(0)
  const success = received(created)
  await putReceipt(created, [success, received({ ...newOf(1), reference: created.reference })])
  const asked = redeliver(success, inSeconds(60))
  const later = redeliver(success, inSeconds(61))
  const stored = await Promise.all([
    replaceDelivery(success, asked),
    replaceDelivery(success, later),
  ])
  expect(stored).toEqual([true, false])
  expect(await findDelivery(created.reference, 0)).toEqual(asked)
  expect((await listDeliveries(created.reference)).map(({ n }) => n)).toEqual([0, 1])
})
