import { randomUUID } from 'node:crypto'
import { defined } from '../../shared/domain/complete.ts'
import type { Changes, Debit } from '../../shared/domain/debits/debit.ts'
import { reversalRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { FeeSchedule } from '../../shared/domain/providers/fee-schedule.ts'
import type { PaidProvider, ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Refusal } from '../../shared/domain/refusal.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { type Day, dayOf } from '../../shared/domain/time.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { changePaidProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { findBatches } from '../../shared/store/settlement/batches.ts'
import { putFunding } from '../../shared/store/settlement/funding.ts'
import { bankMove, gcb, pendingDebit, providerId, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { storeBank, storeDebit, storeProvider } from '../support/settings.ts'

const DAY_MS = 86_400_000

/** A time on 22 November 2026 or some days later. */
export const at = (time: string, daysLater = 0): Date =>
  new Date(Date.parse(`2026-11-22T${time}Z`) + daysLater * DAY_MS)

export const dayAt = (daysLater: number): Day => dayOf(at('00:00:00', daysLater))

/** Returns a runtime whose clock stands at such a time. */
export const runtimeAt = (time: string, daysLater = 1): Runtime =>
  still({ now: () => at(time, daysLater) })

let created = 0

type ProviderOptions = {
  feeSchedule?: FeeSchedule | undefined
  /** Without an account number the provider cannot be paid. */
  account?: string | undefined
}

export const newProvider = async ({
  feeSchedule,
  account,
}: ProviderOptions = {}): Promise<ProviderId> => {
  created += 1
  // Ids sort in the order of their creation.
  const id = providerId(`settled-${process.pid}-${String(created).padStart(3, '0')}`)
  await storeBank(gcb)
  const settlementAccount = account
    ? { bank: gcb.identifier, accountNumber: account, accountName: 'Settled Payments Ltd' }
    : undefined
  const settings = { status: 'active', duplicates: 'return', name: 'Settled Payments' } as const
  await storeProvider({ id, ...settings, ...defined({ feeSchedule, settlementAccount }) })
  return id
}

/** Changes an existing provider. */
export const updateProvider = (id: ProviderId, changes: Partial<PaidProvider>) =>
  changePaidProvider(
    id,
    (current) => ({ ...(current as PaidProvider), ...changes }),
    noWrites,
    real,
  )

/** Stores a pending debit. */
export const openedDebit = async (provider: ProviderId, amount: number): Promise<Debit> => {
  const debit = pendingDebit({ provider, amount: pesewas(amount) })
  await storeDebit(debit)
  return debit
}

export const complete = async (debit: Debit, at: Date): Promise<Debit> =>
  granted(await transition(debit, bankMove('completed', { at }), still()))

export const completedDebit = async (provider: ProviderId, amount: number, when: Date) =>
  complete(await openedDebit(provider, amount), when)

export const completedDebits = (
  provider: ProviderId,
  amounts: readonly number[],
  when: Date,
): Promise<Debit[]> => Promise.all(amounts.map((amount) => completedDebit(provider, amount, when)))

/** Reverses a debit as an operator does; a reversed debit stays unchanged. */
export const reverse = async (
  reference: Reference,
  at: Date,
  own: Changes = {},
): Promise<Debit | Refusal> => {
  const debit = await findDebit(reference)
  if (!debit) throw new Error(`No debit ${reference}`)
  const changes = { metadata: { reversal_reason: 'Dispute' }, ...own }
  return transition(
    debit,
    bankMove('reversed', { changes, at, by: 'operator:local:ama' }),
    still(),
    (_previous, next) => [refundCreation(reversalRefund(next))],
  )
}

/** Builds the only batch of a day. */
export const builtBatch = async (provider: ProviderId, daysLater = 1): Promise<Batch> => {
  const runtime = runtimeAt('00:00:01', daysLater)
  const { batches } = await buildBatch({ provider, date: dayAt(daysLater) }, runtime)
  const [batch, ...others] = await findBatches(batches)
  if (!batch || others.length > 0) throw new Error('Not one batch')
  return batch
}

/** Records that GCB has remitted an amount. */
export const fund = (
  amount: number,
  recordedAt: Date,
  { date = dayOf(recordedAt), reference = randomUUID() as string } = {},
): Promise<unknown> => {
  const funding = { bank: gcb.identifier, reference, amount: pesewas(amount), date, recordedAt }
  return putFunding({ ...funding, recordedBy: 'local:ama' }, [], still())
}
