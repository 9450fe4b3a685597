import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { BatchId } from '../domain/ids.ts'
import { formatAmount, type Pesewas, pesewas } from '../domain/money.ts'
import { isHeldBy, type Restore } from '../domain/operator/restore.ts'
import type { SettlementAccount } from '../domain/providers/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Batch, payoutOf } from '../domain/settlement/batch.ts'
import { beginPayment, collectDebt, divideNet, endPayment } from '../domain/settlement/payment.ts'
import type { Runtime } from '../runtime.ts'
import { findBank } from '../store/banks/banks.ts'
import { findRestore } from '../store/operator/restores.ts'
import { findPayee } from '../store/providers/providers.ts'
import { findBatch, findBatches } from '../store/settlement/batches.ts'
import type { Write } from '../store/table.ts'
import { dueInstead, listOffsettable } from './due.ts'
import { replaceTogether } from './pay.ts'
import { findPayable, noAccount, notPayable } from './payee.ts'

type PaidPayout = {
  bankReference: string
  /** The amount that the bank paid. Absent: that of the payouts that were sent. */
  amount?: Pesewas | undefined
  /** The bank that paid, if not that of the account; null: none of the service. */
  bank?: BankIdentifier | null | undefined
}

/**
 * Records a payout that an operator has confirmed with the bank, or the transfer of a provider for what its
 * batch below zero owes; sends nothing to the bank (docs/api.md#payouts).
 * @param recordChange returns the writes that record the operator's change
 * @returns 5404 for an unknown batch, 5005 if it is completed, 5001 if it cannot have been paid, is due
 *   with another amount, or the service would pay it, too
 */
export const completeBatch = async (
  id: BatchId,
  { bankReference, ...paid }: PaidPayout,
  recordChange: (previous: Batch, next: Batch) => readonly Write[],
  runtime: Runtime,
): Promise<Batch | Refusal> => {
  let first: Batch | undefined
  for (;;) {
    const at = runtime.now()
    const payable = await findRecordable(id, paid, at)
    if (payable instanceof Refusal) return payable
    const { batch, begun, generation } = payable
    first ??= batch
    if (payoutOf(batch) === 'resumes' && payoutOf(first) !== 'resumes')
      return notPayable('a payout has begun since: it ends with the reply of its bank')
    const outcome = { bankReference, at, generation }
    const completed = endPayment(begun.batch, outcome, begun.others)
    const alongside = recordChange(batch, completed.batch)
    const written = await replaceTogether(batch, begun.previous, completed, { alongside }, runtime)
    // A concurrent write to any of the batches: decide again.
    if (written.kind === 'written') return written.batch
  }
}

/**
 * Returns a batch that an operator can record as paid, with its payment begun.
 * @returns the refusals of {@link completeBatch}
 */
export const findRecordable = async (
  id: BatchId,
  { amount, bank }: Omit<PaidPayout, 'bankReference'>,
  at: Date,
) => {
  const batch = await findBatch(id)
  if (!batch) return new Refusal(5404)
  if (payoutOf(batch) === 'none') return new Refusal(5005)
  const restore = await findRestore()
  const generation = restore?.generation
  const isBegun = payoutOf(batch) === 'resumes'
  const begun = isBegun ? await resume(batch, bank) : await begin(batch, { at, bank, restore })
  if (begun instanceof Refusal) return begun
  return refusalOfAmount(batch, begun.batch, amount) ?? { batch, begun, generation }
}

/**
 * Refuses an amount other than what is due: before the grant, other batches may take the offsets of a payout
 * that was not sent or was rejected.
 */
const refusalOfAmount = (
  batch: Batch,
  begun: Batch,
  amount: Pesewas | undefined,
): Refusal | undefined => {
  const due = pesewas(Math.abs(begun.paid ?? 0))
  const sent = amountsSent(batch)
  const paid = amount ?? (sent.length === 1 ? sent[0] : undefined)
  if (paid === due) return undefined
  if (paid === undefined) {
    const others = sent.map((one) => `${formatAmount(one)} was sent, `).join('')
    return notPayable(`${others}${formatAmount(due)} is due: --amount states what was paid`)
  }
  const act = amount === undefined ? 'sent' : 'paid'
  return notPayable(`${formatAmount(paid)} was ${act}${dueInstead(due, paid)}`)
}

/** Returns the different amounts of the payouts that were sent. */
const amountsSent = ({ paid, failed = [] }: Batch): Pesewas[] => [
  ...new Set([...failed.map((rejected) => rejected.paid), ...(paid === null ? [] : [paid])]),
]

/** A batch whose payment has begun, the batches that it offsets, and these as they are stored. */
type Begun = { batch: Batch; others: Batch[]; previous: Batch[] }

const resume = async (batch: Batch, bank: PaidPayout['bank']) => {
  const sentTo = batch.paidTo?.bank
  if (bank !== undefined && bank !== sentTo)
    return notPayable(`the payout is in progress at ${sentTo}`)
  const others = await findBatches(batch.offsets.map((offset) => offset.batch))
  return { batch, others, previous: others }
}

type PaidAccount = { account: SettlementAccount } & Pick<Batch, 'paidBy'>

/**
 * Returns the account that was paid: the last one at `bank`, or the last of all without `bank`. If none is at `bank`,
 * returns the current one, with the bank that paid it.
 */
const findPaidAccount = async (
  { provider, paidTo, failed = [] }: Batch,
  bank: PaidPayout['bank'],
): Promise<PaidAccount | Refusal> => {
  const { settlementAccount } = await findPayee(provider)
  const earlier = failed.map((rejected) => rejected.paidTo)
  const accounts = [settlementAccount, ...earlier, paidTo].filter((one) => !!one)
  const [current] = accounts
  if (!current) return noAccount()
  const account = accounts.findLast((one) => bank === undefined || one.bank === bank)
  if (!account) {
    if (bank && !(await findBank(bank))) return notPayable(`no bank ${bank}`)
    return { account: current, paidBy: bank }
  }
  const banks = new Set(accounts.map((one) => one.bank))
  if (banks.size > 1 && bank === undefined) {
    return notPayable(
      `the account was at ${[...banks].join(' and ')}: --bank names the one that paid`,
    )
  }
  return { account }
}

/** Refuses a batch with nothing outstanding: a payout in progress has offset all of it. */
const collect = (batch: Batch): Begun | Refusal =>
  batch.outstanding === 0
    ? notPayable('a payout in progress offsets it: a transfer may not be due')
    : { ...collectDebt(batch), previous: [] }

type Beginning = { at: Date; bank: PaidPayout['bank']; restore: Restore | undefined }

const WOULD_PAY =
  'the service would pay this batch too: hold it by operator provider disable, then record it'

const begin = async (batch: Batch, { at, bank, restore }: Beginning): Promise<Begun | Refusal> => {
  if (!batch.totals || !batch.reportedAt) return notPayable('the batch is being built')
  if (batch.totals.net < 0)
    return bank === undefined ? collect(batch) : notPayable('no bank pays a batch below zero')
  const previous = await listOffsettable(batch)
  const { due } = divideNet(batch, previous)
  if (due === 0) return notPayable('nothing is due: it has no payout')
  if (payoutOf(batch) === 'begins' && !isHeldBy(restore, batch.provider)) {
    const payable = await findPayable(batch, due)
    if (!(payable instanceof Refusal)) return notPayable(WOULD_PAY)
  }
  const paid = await findPaidAccount(batch, bank)
  if (paid instanceof Refusal) return paid
  const { account, ...by } = paid
  return { ...beginPayment({ ...batch, ...by }, { belowZero: previous, account, at }), previous }
}
