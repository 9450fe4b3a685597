import type { SettlementConnector } from '../banks/settlement.ts'
import type { ConnectorName } from '../domain/bank.ts'
import type { InstructionResult } from '../domain/instruction.ts'
import { formatAmount, pesewas } from '../domain/money.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Batch, BatchId, SettlementAccount } from '../domain/settlement.ts'
import {
  beginPayment,
  endPayment,
  failPayment,
  retryPayment,
} from '../domain/settlement-payment.ts'
import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import { environment, type Runtime } from '../runtime.ts'
import { findBank } from '../store/banks.ts'
import { findFunds } from '../store/funding.ts'
import { findPartner } from '../store/partners.ts'
import {
  findBatch,
  findBatches,
  listBelowZero,
  replaceBatch,
  replaceBatches,
  type Written,
} from '../store/settlements.ts'

/**
 * Pays a batch: one instruction to the bank that holds the partner's account. That it is going to
 * be given is written first; a result that is not known is asked for under the same uuid.
 */

export type World = {
  runtime: Runtime
  connectors: Record<Exclude<ConnectorName, 'none'>, SettlementConnector>
}

const notPayable = (details: string): Refusal => new Refusal(5001, { details })

/**
 * @returns the batch as it is now: completed, failed, or processing still; 5404 for none, 5005 for
 *   one that was processed already, 5001 for one that cannot be
 */
export const payBatch = async (id: BatchId, world: World): Promise<Batch | Refusal> => {
  const batch = await findBatch(id)
  switch (batch?.status) {
    case undefined:
      return new Refusal(5404)
    case 'pending':
      return begin(batch, world)
    case 'processing':
      return instruct(batch, { repeated: true }, world)
    default:
      return new Refusal(5005)
  }
}

/** A transaction takes a hundred writes: the batch, the cash for payouts, and these. */
const OTHERS_MAX = 98

const begin = async (batch: Batch, world: World): Promise<Batch | Refusal> => {
  if (!batch.totals || !batch.reportedAt) return notPayable('the batch is being built')
  if (batch.totals.net < 0) return notPayable('its net is below zero: a later batch makes it good')
  const account = await accountOf(batch, world.runtime.now())
  if (account instanceof Refusal) return account
  const waiting = await listBelowZero(batch.partner, batch.createdAt)
  const belowZero = waiting.filter(isOutstanding).slice(0, OTHERS_MAX)
  const begun = beginPayment(batch, { belowZero, account, at: world.runtime.now() })
  const needed = begun.batch.paid ?? 0
  const cash = { change: -needed, isCovered: environment.payoutsWaitForFunding }
  const written = await writeTogether(batch, belowZero, begun, { cash, world })
  if (written === 'changed') return payBatch(batch.id, world)
  if (written === 'not covered') return notCovered(needed)
  return written.status === 'processing' ? instruct(written, { repeated: false }, world) : written
}

const notCovered = async (needed: number): Promise<Refusal> => {
  const cash = formatAmount(await findFunds())
  return notPayable(
    `the batch needs ${formatAmount(pesewas(needed))} of the cash that banks have remitted, and ${cash} is left`,
  )
}

const isOutstanding = ({ status, outstanding }: Batch): boolean =>
  status === 'pending' && outstanding < 0

const accountOf = async ({ partner }: Batch, now: Date): Promise<SettlementAccount | Refusal> => {
  const { settlementAccount: account, payoutsHeldUntil } = (await findPartner(partner)) ?? {}
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
  world: World,
): Promise<Batch | Refusal> => {
  const { id, uuid, partner, currency, date, paid, paidTo } = batch
  const bank = paidTo && (await findBank(paidTo.bank))
  if (paid === null || !paidTo || !bank || bank.connector === 'none') {
    throw new Error(`Batch ${id} has lost its bank`)
  }
  const result = await world.connectors[bank.connector].pay({
    uuid,
    batch: id,
    partner,
    amount: paid,
    currency,
    account: paidTo,
    date,
    repeated,
  })
  log.info('settlement instructed', { batch: id, partner, repeated, result: result.kind })
  return result.kind === 'underway' ? batch : end(batch, result, world)
}

type LastWord = Exclude<InstructionResult, { kind: 'underway' }>

const end = async (batch: Batch, result: LastWord, world: World): Promise<Batch | Refusal> => {
  const others = await findBatches(batch.makesGood.map(({ batch: id }) => id))
  const at = world.runtime.now()
  const ended =
    result.kind === 'paid'
      ? endPayment(batch, { bankReference: result.bankReference, at }, others)
      : failPayment(batch, { failure: result.message, at }, others)
  // A payout that fails gives its cash back.
  const change = ended.batch.status === 'failed' ? (batch.paid ?? 0) : 0
  const cash = { change, isCovered: false }
  const written = await writeTogether(batch, others, ended, { cash, world })
  // Another worker was first: what it wrote is asked for, under the same uuid.
  if (typeof written === 'string') return payBatch(batch.id, world)
  measure({ [written.status === 'completed' ? 'SettlementPaid' : 'SettlementFailed']: 1 })
  return written
}

type Alongside = { cash: Parameters<typeof replaceBatches>[1]; world: World }

/** @returns the batch as it was written, or why nothing was */
const writeTogether = async (
  batch: Batch,
  others: readonly Batch[],
  after: { batch: Batch; others: readonly Batch[] },
  { cash, world }: Alongside,
): Promise<Batch | Exclude<Written, 'written'>> => {
  const pairs = [
    { before: batch, after: after.batch },
    ...others.map((before, n) => ({ before, after: after.others[n] ?? before })),
  ]
  const written = await replaceBatches(pairs, cash, world.runtime)
  return written === 'written' ? { ...after.batch, version: batch.version + 1 } : written
}

/** Has a batch that failed paid after all, by another instruction. */
export const retryBatch = async (id: BatchId, world: World): Promise<Batch | Refusal> => {
  const batch = await findBatch(id)
  if (!batch) return new Refusal(5404)
  if (batch.status === 'completed') return new Refusal(5005)
  if (batch.status !== 'failed') return notPayable('only a batch that failed is paid again')
  const again = retryPayment(batch, world.runtime.newId() as Batch['uuid'])
  await replaceBatch(batch, again, world.runtime)
  return payBatch(id, world)
}
