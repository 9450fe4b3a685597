import type { BankIdentifier } from '../domain/banks/bank.ts'
import { AROUND_DAYS, type Movement, type OutgoingPage } from '../domain/banks/statement.ts'
import { type Refund, refundStatuses, unsentRefunds } from '../domain/debits/refund.ts'
import { formatAmount } from '../domain/money.ts'
import { type Batch, payingBank } from '../domain/settlement/batch.ts'
import { type Day, dayAfter, iso, startOf } from '../domain/time.ts'
import { repaidAt } from '../ledger/entries.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { findExceptions } from '../store/debits/exceptions.ts'
import { refundPages } from '../store/debits/refunds.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import type { Span } from '../store/table.ts'

/** Refunds and payouts of a bank, to compare with its statement (docs/api.md#bank-statements). */

/** 500 bytes each: 2.5 MB of the 6 MB of a Lambda reply. */
const PAGE_SIZE = 5_000
const READ_AT_ONCE = 16

const spanAround = (date: Day): Span => ({
  from: startOf(dayAfter(date, -AROUND_DAYS)),
  before: startOf(dayAfter(date, AROUND_DAYS + 1)),
})

type OutgoingRequest = { bank: BankIdentifier; date: Day; after: string }

/** The bank has said that it makes, or has made, a refund that it rejected. */
const MADE: readonly (string | null)[] = [unsentRefunds.paid, unsentRefunds.underway]

/**
 * Returns when its bank paid a refund, or an operator noted that the customer has the money from the bank. After any
 * other note, such as on cash, a row of the bank would be a second payment.
 */
const paidAt = async (refund: Refund): Promise<Date | null> => {
  const { reference, completedAt, status, failure } = refund
  if (!refundStatuses[status].mayRetry) return completedAt
  if (!MADE.includes(failure)) return null
  return repaidAt({ refund, exceptions: await findExceptions(reference) }) ?? null
}

const refundView = async (refund: Refund): Promise<Movement> => ({
  kind: 'refund',
  reference: refund.reference,
  provider: refund.provider,
  uuid: refund.uuid,
  earlier: refund.failed.map(({ uuid }) => uuid),
  bank_reference: refund.bankReference,
  amount: formatAmount(refund.amount),
  status: refund.status,
  begun_at: refund.createdAt.toISOString(),
  completed_at: iso(await paidAt(refund)),
})

/** Refunds can have equal times, so the next page begins at the time of the last one. */
const readRefunds = async (
  { bank, date, after }: OutgoingRequest,
  pageSize: number,
): Promise<OutgoingPage> => {
  const { from, before } = spanAround(date)
  const outgoing: Movement[] = []
  const add = async (refunds: readonly Refund[]): Promise<void> => {
    const own = refunds.filter(
      (refund) => refund.bank === bank && refundStatuses[refund.status].isInstructed,
    )
    outgoing.push(...(await mapConcurrent(own, READ_AT_ONCE, refundView)))
  }
  // A bank can make a refund long after it was opened.
  const due = refundPages('due', { from: new Date(0), before })
  if (after === '') for await (const page of due) await add(page)
  const start = after === '' ? from : new Date(after)
  for await (const page of refundPages('completed', { from: start, before })) {
    await add(page)
    const last = page.at(-1)?.completedAt
    if (outgoing.length >= pageSize && last && last > start) {
      return { outgoing, next: last.toISOString() }
    }
  }
  return { outgoing, next: null }
}

/** Returns the payout of a batch at a bank, or those that it rejected before another one was begun or paid. */
const payoutViews = (batch: Batch, bank: BankIdentifier): Movement[] => {
  const { id: reference, provider, uuid, paid, sealedAt, failed = [] } = batch
  const own = { kind: 'payout', reference, provider } as const
  const rejected = failed.filter((payout) => payout.paidTo.bank === bank)
  if (!paid || payingBank(batch) !== bank) {
    const state = { bank_reference: null, status: 'failed', completed_at: null }
    return rejected.map(({ uuid: earlier, paid: amount }) => ({
      ...own,
      ...state,
      uuid: earlier,
      amount: formatAmount(amount),
    }))
  }
  const { bankReference: bank_reference, status, completedAt } = batch
  const times = { ...(sealedAt && { begun_at: iso(sealedAt) }), completed_at: iso(completedAt) }
  const earlier = rejected.map((one) => one.uuid)
  return [{ ...own, uuid, earlier, bank_reference, amount: formatAmount(paid), status, ...times }]
}

/** @param after a provider */
const readPayouts = async (
  { bank, date, after }: OutgoingRequest,
  pageSize: number,
): Promise<OutgoingPage> => {
  const { from, before } = spanAround(date)
  const outgoing: Movement[] = []
  const providers = (await listProviders()).sort().filter((provider) => provider > after)
  for (const provider of providers) {
    const times = await listBatchTimes(provider)
    const near = times.filter(
      ({ sealedAt, completedAt }) =>
        sealedAt && sealedAt < before && (completedAt === null || completedAt >= from),
    )
    const batches = await findBatches(near.map(({ id }) => id))
    outgoing.push(...batches.flatMap((batch) => payoutViews(batch, bank)))
    if (outgoing.length >= pageSize) return { outgoing, next: provider }
  }
  return { outgoing, next: null }
}

export const readOutgoing = (
  kind: 'refund' | 'payout',
  request: OutgoingRequest,
  { pageSize = PAGE_SIZE } = {},
): Promise<OutgoingPage> =>
  kind === 'refund' ? readRefunds(request, pageSize) : readPayouts(request, pageSize)
