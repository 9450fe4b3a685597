import type { BankIdentifier } from '../domain/banks/bank.ts'
import { AROUND_DAYS, type Movement, type OutgoingPage } from '../domain/banks/statement.ts'
import { type Refund, refundStatuses } from '../domain/debits/refund.ts'
import { formatAmount } from '../domain/money.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { refundPages } from '../store/debits/refunds.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findBatches, listBatchTimes } from '../store/settlement/batches.ts'
import type { Span } from '../store/table.ts'

/** Refunds and payouts of a bank, to compare with its statement (docs/api.md#bank-statements). */

/** 400 bytes each: 2 MB of the 6 MB of a Lambda reply. */
const PAGE_SIZE = 5_000

const spanAround = (date: Day): Span => ({
  from: startOf(dayAfter(date, -AROUND_DAYS)),
  before: startOf(dayAfter(date, AROUND_DAYS + 1)),
})

type OutgoingRequest = { bank: BankIdentifier; date: Day; after: string }

const refundView = (refund: Refund): Movement => ({
  kind: 'refund',
  reference: refund.reference,
  provider: refund.provider,
  uuid: refund.uuid,
  bank_reference: refund.bankReference,
  amount: formatAmount(refund.amount),
  status: refund.status,
  begun_at: refund.createdAt.toISOString(),
  completed_at: refund.completedAt?.toISOString() ?? null,
})

/** Refunds can have equal times, so the next page begins at the time of the last one. */
const readRefunds = async ({ bank, date, after }: OutgoingRequest): Promise<OutgoingPage> => {
  const { from, before } = spanAround(date)
  const outgoing: Movement[] = []
  const add = (refunds: readonly Refund[]): void => {
    const own = refunds.filter(
      (refund) => refund.bank === bank && refundStatuses[refund.status].isInstructed,
    )
    outgoing.push(...own.map(refundView))
  }
  if (after === '') for await (const page of refundPages('due', { from, before })) add(page)
  const start = after === '' ? from : new Date(after)
  for await (const page of refundPages('completed', { from: start, before })) {
    add(page)
    const last = page.at(-1)?.completedAt
    if (outgoing.length >= PAGE_SIZE && last && last > start) {
      return { outgoing, next: last.toISOString() }
    }
  }
  return { outgoing, next: null }
}

const payoutView = (batch: Batch): Movement => ({
  kind: 'payout',
  reference: batch.id,
  provider: batch.provider,
  uuid: batch.uuid,
  bank_reference: batch.bankReference,
  amount: formatAmount(batch.paid ?? 0n),
  status: batch.status,
  ...(batch.sealedAt && { begun_at: batch.sealedAt.toISOString() }),
  completed_at: batch.completedAt?.toISOString() ?? null,
})

/** @param after a provider */
const readPayouts = async ({ bank, date, after }: OutgoingRequest): Promise<OutgoingPage> => {
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
    outgoing.push(
      ...batches.filter(({ paid, paidTo }) => paid && paidTo?.bank === bank).map(payoutView),
    )
    if (outgoing.length >= PAGE_SIZE) return { outgoing, next: provider }
  }
  return { outgoing, next: null }
}

export const readOutgoing = (
  kind: 'refund' | 'payout',
  request: OutgoingRequest,
): Promise<OutgoingPage> => (kind === 'refund' ? readRefunds(request) : readPayouts(request))
