import { randomUUID } from 'node:crypto'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { advance, type Debit, openDebit } from '../../shared/domain/debits/debit.ts'
import { debitUuid, newReference, type Reference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { toDebitItem, workAfter } from '../../shared/store/debits/debit-item.ts'

/** Days of completed debits, each of its own provider. */

export type CompletedDay = { provider: ProviderId; references: readonly Reference[] }

const START = new Date('2026-11-21T00:00:00.000Z')
const DAY_MS = 86_400_000
const SUFFIXES = 36 ** 6

/** The suffixes of references that earlier days use. */
let reserved = 0

/** Returns a completed debit; the debits are spread evenly over the day. */
const debitOf = ({ provider, references }: CompletedDay, index: number): Debit => {
  const at = new Date(START.getTime() + Math.floor((index / references.length) * DAY_MS))
  const reference = references[index] as Reference
  const facts = {
    reference,
    uuid: debitUuid(reference),
    provider,
    providerName: 'Demo Payments',
    partnerReference: `order-2026-11-21-${String(index).padStart(12, '0')}`,
    amount: pesewas(1_00 + (index % 999_901)),
    bank: { identifier: 'GCB' as BankIdentifier, name: 'GCB Bank PLC' },
    phone: '+233241234567' as PhoneNumber,
    narration: 'Payment for your order, thank you for shopping',
    metadata: {},
  }
  const pending = openDebit(facts, { at, by: 'provider:demo', requestId: 'request-1' })
  const cause = () => ({ at, by: 'bank:GCB', requestId: randomUUID() })
  const changes = { bankReference: `GCB-${index}`, approvalMethod: 'ussd' as const }
  const processing = advance(pending, { ...cause(), to: 'processing', changes }) as Debit
  return advance(processing, { ...cause(), to: 'completed', changes: {} }) as Debit
}

/** Returns a day of its own provider. */
export const completedDay = (count: number): CompletedDay => {
  const first = reserved
  reserved += count
  return {
    provider: `bench-${randomUUID().slice(0, 8)}` as ProviderId,
    references: Array.from({ length: count }, (_, index) =>
      newReference('DCS', START, (first + index + 0.5) / SUFFIXES),
    ),
  }
}

/** Returns the stored form of a debit of a day: completed, and not settled. */
export const itemOf = (day: CompletedDay, index: number) => {
  const debit = debitOf(day, index)
  return { ...toDebitItem(debit), ...workAfter(debit) }
}
