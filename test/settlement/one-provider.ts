import { randomUUID } from 'node:crypto'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import type { Bank } from '../../shared/domain/banks/bank.ts'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import { reversalRefund } from '../../shared/domain/debits/refund.ts'
import { newReference, type Reference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { Provider, type ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Refusal } from '../../shared/domain/refusal.ts'
import type { FeeSchedule } from '../../shared/domain/settlement/fee-schedule.ts'
import { type Day, dayOf } from '../../shared/domain/time.ts'
import { real } from '../../shared/runtime.ts'
import { changeBank } from '../../shared/store/banks/banks.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { transition, transitionWith } from '../../shared/store/debits/transitions.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { gcb, pendingDebit, providerId, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'

/** Providers with debits that were completed, for settlement to take. */

export const DAY_MS = 86_400_000

/** A time of the 22nd of November 2026, or of a day after it. */
export const at = (time: string, daysLater = 0): Date =>
  new Date(Date.parse(`2026-11-22T${time}Z`) + daysLater * DAY_MS)

export const dayAt = (daysLater: number): Day => dayOf(at('00:00:00', daysLater))

let created = 0

type Terms = {
  feeSchedule?: FeeSchedule | undefined
  /** Its number; none: the provider cannot be paid. */
  account?: string | undefined
  bank?: Bank
}

/** A new provider that pays by a schedule, and has an account or none. */
export const newProvider = async ({
  feeSchedule,
  account,
  bank = gcb,
}: Terms = {}): Promise<ProviderId> => {
  created += 1
  const id = providerId(`settled-${process.pid}-${created}`)
  await changeBank(bank.identifier, () => bank, noWrites, real)
  const provider = v.parse(Provider, {
    id,
    name: 'Settled Payments',
    status: 'active',
    duplicates: 'return',
    ...(feeSchedule ? { feeSchedule } : {}),
    ...(account
      ? {
          settlementAccount: {
            bank: bank.identifier,
            accountNumber: account,
            accountName: 'Settled Payments Ltd',
          },
        }
      : {}),
  })
  await changeProvider(id, () => provider, noWrites, real)
  return id
}

let opened = 0

/** A pending debit that stands in the table. */
export const openedDebit = async (provider: ProviderId, amount: number): Promise<Debit> => {
  // No two alike: a thousand of them at random would be, once in a while.
  opened += 1
  const reference = newReference('DCS', at('12:00:00'), (opened + 0.5) / 36 ** 6)
  const debit = pendingDebit({ provider, amount: pesewas(amount), reference })
  await table.send(new PutCommand({ TableName: tableName(), Item: toDebitItem(debit) }))
  return debit
}

/** @param fee what its bank takes itself */
export const complete = async (debit: Debit, when: Date, fee?: number): Promise<Debit> =>
  granted(
    await transition(
      debit,
      (now) =>
        advance(now, {
          to: 'completed',
          changes: fee === undefined ? {} : { fee: pesewas(fee) },
          at: when,
          by: 'bank:GCB',
          requestId: randomUUID(),
        }),
      still(),
    ),
  )

/** No more of them at a time than the client has connections for, as it opens them. */
const TOGETHER = 20

/** Completed debits of these amounts. */
export const completedDebits = async (
  provider: ProviderId,
  amounts: readonly number[],
  when: Date,
): Promise<Debit[]> => {
  const debits: Debit[] = []
  for (let n = 0; n < amounts.length; n += TOGETHER) {
    const some = amounts.slice(n, n + TOGETHER)
    const opened = some.map(async (amount) => complete(await openedDebit(provider, amount), when))
    debits.push(...(await Promise.all(opened)))
  }
  return debits
}

/** As an operator gives a debit back; asked for again, it is left as it is. */
export const reverse = async (reference: Reference, when: Date): Promise<Debit | Refusal> => {
  const debit = await findDebit(reference)
  if (!debit) throw new Error(`No debit ${reference}`)
  return transitionWith(
    debit,
    (now) =>
      advance(now, {
        to: 'reversed',
        changes: { metadata: { reversal_reason: 'Dispute' } },
        at: when,
        by: 'operator:local:ama',
        requestId: randomUUID(),
      }),
    (_before, after) => [refundCreation(reversalRefund(after))],
    still(),
  )
}
