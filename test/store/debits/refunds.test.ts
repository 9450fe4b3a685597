import { beforeEach, expect, test } from 'vitest'
import { refundCustomer } from '../../../functions/jobs/refund-customer.ts'
import { sweep } from '../../../functions/jobs/sweep.ts'
import type { Debit } from '../../../shared/domain/debits/debit.ts'
import { completeRefund, type Refund } from '../../../shared/domain/debits/refund.ts'
import type { Reference } from '../../../shared/domain/ids.ts'
import { findRefund, refundPages, replaceRefund } from '../../../shared/store/debits/refunds.ts'
import { gathered, take, useQueues } from '../../settlement/messages-sent.ts'
import { at, completedDebits, newProvider, reverse } from '../../settlement/one-provider.ts'
import { still } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeEach(useFreshTable)
useQueues()

const refundOf = async (reference: Reference): Promise<Refund> => {
  const refund = await findRefund(reference)
  if (!refund) throw new Error('No refund')
  return refund
}

const reversedAt = async (time: string): Promise<Refund> => {
  const [debit] = (await completedDebits(await newProvider(), [10_00], at('09:00:00'))) as [Debit]
  await reverse(debit.facts.reference, at(time))
  return refundOf(debit.facts.reference)
}

const sentFor = async ({ reference }: Refund, time: string) =>
  (await gathered(() => take(sweep(still({ now: () => at(time) })), 'sweeps', {}))).filter(
    ({ queue, body }) => queue === 'refunds' && body.reference === reference,
  )

const listed = async (list: 'due' | 'completed', from: string, before: string) => {
  const pages = await Array.fromAsync(refundPages(list, { from: at(from), before: at(before) }))
  return pages.flat().map(({ reference }) => reference)
}

test('the sweep sends a refund again until it ends', async () => {
  const refund = await reversedAt('10:00:00')
  expect(await sentFor(refund, '10:01:59')).toEqual([])
  const sent = await sentFor(refund, '10:02:00')
  expect(sent).toEqual([{ queue: 'refunds', body: { reference: refund.reference } }])
  expect(await sentFor(refund, '10:03:59')).toEqual([])
  expect(await sentFor(refund, '10:04:00')).toHaveLength(1)
  await take(refundCustomer(still({ now: () => at('10:05:00') })), 'refunds', {
    reference: refund.reference,
  })
  expect((await refundOf(refund.reference)).status).toBe('completed')
  expect(await sentFor(refund, '23:00:00')).toEqual([])
})

test('a refund is listed by its creation until it completes, then by its completion', async () => {
  const refund = await reversedAt('10:00:00')
  expect(await listed('due', '10:00:00', '10:00:01')).toEqual([refund.reference])
  const paid = completeRefund(refund, { bankReference: 'B-1', at: at('12:00:00') })
  await replaceRefund(refund, paid, [], still())
  expect(await listed('due', '00:00:00', '23:00:00')).toEqual([])
  expect(await listed('completed', '10:00:00', '11:00:00')).toEqual([])
  expect(await listed('completed', '12:00:00', '12:00:01')).toEqual([refund.reference])
})
