import { ConnectorFault, type PaymentConnector } from '../banks/connector.ts'
import { paymentConnectors } from '../banks/registry.ts'
import { findMadeLater } from '../banks/rejected-payments.ts'
import type { ConnectorName } from '../domain/banks/bank.ts'
import type { BatchId } from '../domain/ids.ts'
import { formatAmount, pesewas } from '../domain/money.ts'
import { replyLost } from '../domain/operator/approval.ts'
import { isHeldBy, type Restore } from '../domain/operator/restore.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Batch, payoutOf, type RejectedPayout } from '../domain/settlement/batch.ts'
import {
  endPayment,
  failPayment,
  rejectedPayouts,
  retryPayment,
} from '../domain/settlement/payment.ts'
import type { Payout, PayoutResult } from '../domain/settlement/payout.ts'
import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import { environment, type Runtime } from '../runtime.ts'
import { findBank } from '../store/banks/banks.ts'
import { connectionConfig } from '../store/banks/connector-settings.ts'
import { findRestore } from '../store/operator/restores.ts'
import * as batches from '../store/settlement/batches.ts'
import { findFunds } from '../store/settlement/funding.ts'
import type { Write } from '../store/table.ts'
import { dueInstead, findDue, findFailedBatch, planPayout, refusalIfEnded } from './due.ts'
import { notPayable, type PayoutOptions } from './payee.ts'

export type PaymentDeps = {
  runtime: Runtime
  connectors: Record<Exclude<ConnectorName, 'none'>, Pick<PaymentConnector, 'pay' | 'query'>>
}

/** A query and a payout must both end within the function's time. */
const TIMEOUT_SECONDS = 10

export const paymentDeps = (runtime: Runtime): PaymentDeps => ({
  runtime,
  connectors: paymentConnectors(connectionConfig(runtime, TIMEOUT_SECONDS)),
})

/**
 * Returns the deps of an operator's call: a payout that has begun is underway if its bank gives no final reply,
 * because the sweep queries it. Settings that an operator must correct (2001) stay a fault.
 */
export const operatorDeps = (runtime: Runtime): PaymentDeps => {
  const { connectors } = paymentDeps(runtime)
  const withUnderway = ({ pay, ...connector }: PaymentDeps['connectors']['http']) => ({
    ...connector,
    pay: (payout: Payout) =>
      pay(payout).catch((error: unknown): PayoutResult => {
        if (!(error instanceof ConnectorFault) || error.code === 2001) throw error
        log.warn('payout left to the sweep', { batch: payout.batch, error })
        return { kind: 'underway' }
      }),
  })
  return {
    runtime,
    connectors: { sandbox: withUnderway(connectors.sandbox), http: withUnderway(connectors.http) },
  }
}

const held = ({ generation }: Restore): Refusal =>
  notPayable(`payouts are held since restore ${generation}: see operator restore release`)

type PayRequest = PayoutOptions & {
  /** Returns the writes that record an operator's call: with the start of the payout, or before its query. */
  recordChange?: (batch: Batch) => Write[]
}

/**
 * Pays a batch by one payout to the bank of the provider's account (docs/api.md#payouts). The payout
 * is stored before it is sent, and marked before each repeat: no worker sends it after it has failed.
 * After an unknown result, the bank is queried with the same uuid.
 * A payout that has begun also continues on a day without payouts.
 * @returns the batch: completed, failed or still processing; 5404 for an unknown batch, 5005 if
 *   it is already paid or failed, 5001 if it cannot be paid or a restore holds its provider
 */
export const payBatch = async (
  id: BatchId,
  deps: PaymentDeps,
  options: PayRequest = {},
): Promise<Batch | Refusal> => {
  const [batch, restore] = await Promise.all([batches.findBatch(id), findRestore()])
  if (!batch) return new Refusal(5404)
  const ended = refusalIfEnded(batch)
  if (ended) return ended
  if (restore && isHeldBy(restore, batch.provider)) return held(restore)
  const generation = restore?.generation
  const alongside = options.recordChange?.(batch) ?? []
  if (payoutOf(batch) === 'begins') {
    const write = { previous: batch, alongside }
    const begun = await begin(batch, { ...deps, generation }, options, write)
    return begun ?? payBatch(id, deps, options)
  }
  const next = { batch: { ...batch, sentAt: deps.runtime.now() }, others: [] }
  const marked = await replaceTogether(batch, [], next, { alongside }, deps.runtime)
  if (marked.kind === 'recorded') return replyLost()
  if (marked.kind !== 'written') return payBatch(id, deps, options)
  return instructBank(marked.batch, { repeated: true }, { ...deps, generation })
}

/** With the table's generation at the payout. Undefined: 1. */
type PayoutDeps = PaymentDeps & { generation: number | undefined }

type PayoutWrite = { previous: Batch; alongside: readonly Write[] }

/**
 * @param write the batch as it is stored, and the record of the operator's change
 * @returns undefined when another write was first
 */
const begin = async (
  batch: Batch,
  deps: PayoutDeps,
  options: PayoutOptions,
  { previous, alongside }: PayoutWrite,
) => {
  const { runtime, generation } = deps
  const plan = await planPayout(batch, options, { now: runtime.now, generation })
  if (plan instanceof Refusal) return plan
  const { begun, account, belowZero } = plan
  // A restore may have undone the record of a payout that the bank has made, and of its offsets.
  const repeated = (batch.generation ?? 1) < (generation ?? 1)
  const { uuid, paid } = begun.batch
  if (repeated && belowZero.length > 0 && paid !== null) {
    const differs = await differsAtBank({ uuid, paid, paidTo: account }, deps)
    if (differs) return differs
  }
  const writing = { isCovered: environment.payoutsWaitForFunding, alongside }
  const written = await replaceTogether(previous, belowZero, begun, writing, runtime)
  if (written.kind === 'recorded') return replyLost()
  if (written.kind !== 'written') {
    return written.kind === 'changed' ? undefined : notCovered(begun.batch)
  }
  return payoutOf(written.batch) === 'resumes'
    ? instructBank(written.batch, { repeated }, deps)
    : written.batch
}

const notCovered = async ({ paid }: Batch): Promise<Refusal> => {
  const [needed, remaining] = [paid ?? pesewas(0), await findFunds()].map(formatAmount)
  return notPayable(`the batch needs ${needed}, and ${remaining} of the remitted cash is available`)
}

const instructBank = async (
  batch: Batch,
  { repeated }: { repeated: boolean },
  deps: PayoutDeps,
): Promise<Batch | Refusal> => {
  const { id, uuid, provider, currency, date, paid, paidTo } = batch
  const bank = paidTo && (await findBank(paidTo.bank))
  if (paid === null || !paidTo || !bank || bank.connector === 'none') {
    throw new Error(`The bank of batch ${id} no longer exists`)
  }
  const result = await deps.connectors[bank.connector].pay({
    uuid,
    batch: id,
    provider,
    amount: paid,
    currency,
    account: paidTo,
    date,
    repeated,
  })
  log.info('payout instructed', { batch: id, provider, repeated, result: result.kind })
  return result.kind === 'underway' ? batch : recordResult(batch, result, deps)
}

type FinalResult = Exclude<PayoutResult, { kind: 'underway' }>

const recordResult = async (batch: Batch, result: FinalResult, deps: PayoutDeps) => {
  const { runtime, generation } = deps
  const others = await batches.findBatches(batch.offsets.map((offset) => offset.batch))
  const at = runtime.now()
  const ended =
    result.kind === 'paid'
      ? endPayment(batch, { ...result, at, generation }, others)
      : failPayment(batch, { failure: result.message, at }, others)
  const written = await replaceTogether(batch, others, ended, {}, runtime)
  if (written.kind !== 'written') {
    const stored = await batches.findBatch(batch.id)
    // Another worker sends the same payout.
    if (stored?.uuid === batch.uuid && payoutOf(stored) === 'resumes')
      return recordResult(stored, result, deps)
    // An operator has recorded that the bank would not pay, or another payment.
    const isRecorded = stored?.uuid === batch.uuid && stored.status === 'completed'
    if (result.kind === 'paid' && !isRecorded)
      log.error('the bank has paid a payout that ended otherwise', { batch: batch.id, result })
    return payBatch(batch.id, deps)
  }
  measure({ [result.kind === 'paid' ? 'SettlementPaid' : 'SettlementFailed']: 1 })
  return written.batch
}

type Unwritten = { kind: 'changed' | 'not covered' | 'recorded' }

export const replaceTogether = async (
  batch: Batch,
  others: readonly Batch[],
  next: { batch: Batch; others: readonly Batch[] },
  options: Parameters<typeof batches.replaceBatches>[1],
  runtime: Runtime,
): Promise<{ kind: 'written'; batch: Batch } | Unwritten> => {
  const pairs = [
    { previous: batch, next: next.batch },
    ...others.map((previous, index) => ({ previous, next: next.others[index] ?? previous })),
  ]
  const { kind } = await batches.replaceBatches(pairs, options, runtime)
  return kind === 'written'
    ? { kind, batch: { ...next.batch, version: batch.version + 1 } }
    : { kind }
}

/** Returns what the bank of a payout replies now; undefined if it was disconnected. */
const queryPayout = async ({ uuid, paid, paidTo }: RejectedPayout, { connectors }: PaymentDeps) => {
  const bank = await findBank(paidTo.bank)
  if (!bank || bank.connector === 'none') return undefined
  const payment = { kind: 'payout', bank: bank.identifier, uuid, amount: paid } as const
  return connectors[bank.connector].query?.(payment)
}

/** Refuses a payout if its bank has it with another amount: before a restore, it had other offsets. */
const differsAtBank = async (payout: RejectedPayout, deps: PaymentDeps) => {
  try {
    await queryPayout(payout, deps)
    return undefined
  } catch (error) {
    if (!(error instanceof ConnectorFault) || error.code !== 2002) throw error
    const { uuid, paid, paidTo } = payout
    return notPayable(
      `${paidTo.bank} has not made the payout ${uuid} with ${formatAmount(paid)}: pay first the batch that took the debts before the restore`,
    )
  }
}

const nameOf = ({ uuid, paid, paidTo }: RejectedPayout, act: string): string =>
  `${paidTo.bank} ${act} the rejected payout ${uuid} of ${formatAmount(paid)}`

const recordInstead = async (batch: Batch, payment: RejectedPayout): Promise<Refusal> => {
  const due = await findDue(batch)
  const next =
    due === payment.paid ? ': settlement complete records it' : dueInstead(due, payment.paid)
  return notPayable(`${nameOf(payment, 'has paid')}${next}`)
}

/**
 * Pays a failed batch under a new uuid (docs/api.md#payouts).
 * @param recordChange returns the writes that record the operator's change
 * @throws ConnectorFault if the bank of a rejected payout gives no usable reply
 */
export const retryBatch = async (
  id: BatchId,
  recordChange: (previous: Batch) => readonly Write[],
  deps: PaymentDeps,
  options: PayoutOptions = {},
): Promise<Batch | Refusal> => {
  const [batch, restore] = await Promise.all([findFailedBatch(id), findRestore()])
  if (batch instanceof Refusal) return batch
  if (restore && isHeldBy(restore, batch.provider)) return held(restore)
  const made = await findMadeLater(rejectedPayouts(batch), (one) => queryPayout(one, deps))
  if (made?.kind === 'paid') return recordInstead(batch, made.payment)
  if (made) return notPayable(`${nameOf(made.payment, 'is processing')}: retry after its outcome`)
  const retried = retryPayment(batch)
  const retry = { previous: batch, alongside: recordChange(batch) }
  const begun = await begin(retried, { ...deps, generation: restore?.generation }, options, retry)
  return begun ?? retryBatch(id, recordChange, deps, options)
}
