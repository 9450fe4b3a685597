import { beforeAll, expect, test } from 'vitest'
import { type Delivery, owed, recordAttempt } from '../../shared/domain/delivery.ts'
import { findDelivery, listDeliveries, putAttempt } from '../../shared/store/deliveries.ts'
import { NOON, pendingDebit } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)

const fresh = (n = 0): Delivery => {
  const { reference, partner } = pendingDebit().facts
  return owed({ reference, n, event: 'created', partner }, {})
}

const failed = (delivery: Delivery): Delivery =>
  recordAttempt(delivery, { kind: 'unreached', cause: 'refused' }, NOON, [0, 0])

const delivered = (delivery: Delivery): Delivery =>
  recordAttempt(delivery, { kind: 'answered', code: 200, body: 'ok' }, NOON, [0, 0])

test('an attempt is read back as it was written', async () => {
  const attempted = failed(fresh())
  expect(await putAttempt(attempted)).toBe(true)
  expect(await findDelivery(attempted.reference, 0)).toEqual(attempted)
})

test('of two workers on one attempt, one leaves a record', async () => {
  const before = fresh()
  const results = await Promise.all([failed(before), delivered(before)].map(putAttempt))
  expect(results.sort()).toEqual([false, true])
})

test('an attempt is written after the one before it, and only then', async () => {
  const first = failed(fresh())
  const second = failed(first)
  expect(await putAttempt(second)).toBe(false)
  expect(await putAttempt(first)).toBe(true)
  expect(await putAttempt(second)).toBe(true)
  expect(await putAttempt(second)).toBe(false)
})

test('nothing follows a delivered or abandoned record, nor the last attempt', async () => {
  const done = delivered(fresh())
  await putAttempt(done)
  expect(await putAttempt({ ...done, status: 'failed', attemptCount: 2 })).toBe(false)
  const last = { ...failed(fresh()), attemptCount: 4, attemptsMax: 3 }
  expect(await putAttempt(last)).toBe(false)
})

test('the deliveries of a debit are listed in the order of its events', async () => {
  const first = failed(fresh())
  for (const n of [2, 0, 1]) await putAttempt({ ...first, n })
  expect((await listDeliveries(first.reference)).map(({ n }) => n)).toEqual([0, 1, 2])
})
