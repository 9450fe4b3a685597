import type { PayoutConnector } from '../banks/payout-connector.ts'
import type { ConnectorName } from '../domain/banks/bank.ts'
import { formatAmount, pesewas } from '../domain/money.ts'
import { isHeldBy, type Restore } from '../domain/operator/restore.ts'
import { Refusal } from '../domain/refusal.ts'
import {
  type Batch,
  type BatchId,
  payoutUuid,
  type SettlementAccount,
} from '../domain/settlement/batch.ts'
import {
  beginPayment,
  endPayment,
  failPayment,
  retryPayment,
} from '../domain/settlement/payment.ts'
import type { PayoutResult } from '../domain/settlement/payout.ts'
import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import { environment, type Runtime } from '../runtime.ts'
import { findBank } from '../store/banks/banks.ts'
import { findRestore } from '../store/operator/restores.ts'
import { findProvider } from '../store/providers/providers.ts'
import {
  findBatch,
  findBatches,
  listBelowZero,
  replaceBatch,
  replaceBatches,
  type Written,
} from '../store/settlement/batches.ts'
import { findFunds } from '../store/settlement/funding.ts'

/**
 * Pays a batch: one instruction to the bank that holds the provider's account. That it is going to
 * be given is written first; a result that is not known is asked for under the same uuid.
 */

export type PaymentDeps = {
  runtime: Runtime
  connectors: Record<Exclude<ConnectorName, 'none'>, PayoutConnector>
}

export const notPayable = (details: string): Refusal => new Refusal(5001, { details })

const held = ({ generation }: Restore): Refusal =>
  notPayable(`payouts are held since restore ${generation}: see operator restore release`)

/**
 * @returns the batch as it is now: completed, failed, or processing still; 5404 for none, 5005 for
 *   one that was processed already, 5001 for one that cannot be, or whose provider is held
 */
export const payBatch = async (id: BatchId, world: PaymentDeps): Promise<Batch | Refusal> => {
  const [batch, restore] = await Promise.all([findBatch(id), findRestore()])
  if (!batch) return new Refusal(5404)
  if (batch.status === 'completed' || batch.status === 'failed') return new Refusal(5005)
  if (restore && isHeldBy(restore, batch.provider)) return held(restore)
  const generation = restore?.generation
  return batch.status === 'pending'
    ? begin(batch, { ...world, generation })
    : instruct(batch, { repeated: true }, { ...world, generation })
}

/** The generation of the table at the payout. Absent: 1. */
type Paying = PaymentDeps & { generation: number | undefined }

/** A transaction takes a hundred writes: the batch, the cash, the record of a change, and these. */
const OTHERS_MAX = 97

const begin = async (batch: Batch, world: Paying): Promise<Batch | Refusal> => {
  if (!batch.totals || !batch.reportedAt) return notPayable('the batch is being built')
  if (batch.totals.net < 0) return notPayable('the net is negative: a later batch offsets it')
  const account = await accountOf(batch, world.runtime.now())
  if (account instanceof Refusal) return account
  const { generation } = world
  const belowZero = await belowZeroBefore(batch)
  const begun = beginPayment(batch, { belowZero, account, at: world.runtime.now(), generation })
  const isCovered = environment.payoutsWaitForFunding
  const written = await writeTogether(batch, belowZero, begun, { ...world, isCovered })
  if (written === 'changed') return payBatch(batch.id, world)
  if (written === 'not covered') return notCovered(begun.batch)
  // A restore may have undone the record of a payout that the bank has made.
  const repeated = (batch.generation ?? 1) < (generation ?? 1)
  return written.status === 'processing' ? instruct(written, { repeated }, world) : written
}

const notCovered = async ({ paid }: Batch): Promise<Refusal> => {
  const [needed, left] = [paid ?? pesewas(0), await findFunds()].map(formatAmount)
  return notPayable(`the batch needs ${needed}, and ${left} of the remitted cash is available`)
}

/** Returns the batches that a payout makes good. */
export const belowZeroBefore = async ({ provider, createdAt }: Batch): Promise<Batch[]> =>
  (await listBelowZero(provider, createdAt)).filter(isOutstanding).slice(0, OTHERS_MAX)

const isOutstanding = ({ status, outstanding }: Batch): boolean =>
  status === 'pending' && outstanding < 0

const accountOf = async ({ provider }: Batch, now: Date): Promise<SettlementAccount | Refusal> => {
  const { settlementAccount: account, payoutsHeldUntil } = (await findProvider(provider)) ?? {}
  if (!account) return notPayable('the provider has no settlement account')
  if (payoutsHeldUntil && now < new Date(payoutsHeldUntil)) {
    return notPayable(`the settlement account changed: payouts are held until ${payoutsHeldUntil}`)
  }
  const bank = await findBank(account.bank)
  return bank && bank.connector !== 'none'
    ? account
    : notPayable(`no connector to the bank ${account.bank}`)
}

const instruct = async (
  batch: Batch,
  { repeated }: { repeated: boolean },
  world: Paying,
): Promise<Batch | Refusal> => {
  const { id, uuid, provider, currency, date, paid, paidTo } = batch
  const bank = paidTo && (await findBank(paidTo.bank))
  if (paid === null || !paidTo || !bank || bank.connector === 'none') {
    throw new Error(`The bank of batch ${id} no longer exists`)
  }
  const result = await world.connectors[bank.connector].pay({
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
  return result.kind === 'underway' ? batch : end(batch, result, world)
}

type LastWord = Exclude<PayoutResult, { kind: 'underway' }>

const end = async (batch: Batch, result: LastWord, world: Paying): Promise<Batch | Refusal> => {
  const others = await findBatches(batch.offsets.map(({ batch: id }) => id))
  const at = world.runtime.now()
  const ended =
    result.kind === 'paid'
      ? endPayment(batch, { ...result, at, generation: world.generation }, others)
      : failPayment(batch, { failure: result.message, at }, others)
  const written = await writeTogether(batch, others, ended, world)
  // Another worker was first: what it wrote is asked for, under the same uuid.
  if (typeof written === 'string') return payBatch(batch.id, world)
  measure({ [written.status === 'completed' ? 'SettlementPaid' : 'SettlementFailed']: 1 })
  return written
}

type Writing = Pick<PaymentDeps, 'runtime'> & Parameters<typeof replaceBatches>[2]

/**
 * Writes a batch with those that it makes good.
 * @returns the batch as it was written, or why nothing was
 */
export const writeTogether = async (
  batch: Batch,
  others: readonly Batch[],
  after: { batch: Batch; others: readonly Batch[] },
  { runtime, ...options }: Writing,
): Promise<Batch | Exclude<Written, 'written'>> => {
  const pairs = [
    { before: batch, after: after.batch },
    ...others.map((before, n) => ({ before, after: after.others[n] ?? before })),
  ]
  const written = await replaceBatches(pairs, runtime, options)
  return written === 'written' ? { ...after.batch, version: batch.version + 1 } : written
}

/** Has a batch that failed paid after all, by another instruction. */
export const retryBatch = async (id: BatchId, world: PaymentDeps): Promise<Batch | Refusal> => {
  const [batch, restore] = await Promise.all([findBatch(id), findRestore()])
  if (!batch) return new Refusal(5404)
  if (batch.status === 'completed') return new Refusal(5005)
  if (batch.status !== 'failed') return notPayable('only a failed batch can be retried')
  if (restore && isHeldBy(restore, batch.provider)) return held(restore)
  const again = retryPayment(batch, payoutUuid(id, batch.attempt + 1))
  await replaceBatch(batch, again, world.runtime)
  return payBatch(id, world)
}
