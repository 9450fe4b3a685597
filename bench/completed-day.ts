import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { Debit } from '../shared/domain/debits/debit.ts'
import { newReference, type Reference } from '../shared/domain/ids.ts'
import { pesewas } from '../shared/domain/money.ts'
import type { ProviderId } from '../shared/domain/providers/provider.ts'
import { toDebitItem, workAfter } from '../shared/store/debits/debit-item.ts'
import { table, tableName } from '../shared/store/table.ts'
import { bankMove, pendingDebit } from '../test/support/examples.ts'

/** Seeds a day of completed debits of a provider. */

export type CompletedDay = {
  provider: ProviderId
  count: number
  /** Midnight. */
  start: Date
}

const DAY_MS = 86_400_000
const SUFFIXES = 36 ** 6

let reserved = 0
const offsets = new Map<ProviderId, number>()

/** Returns the first suffix of a provider's references, which all providers share. */
const offsetOf = ({ provider, count }: CompletedDay): number => {
  const offset = offsets.get(provider) ?? reserved
  if (!offsets.has(provider)) reserved += count
  offsets.set(provider, offset)
  return offset
}

export const referenceIn = (day: CompletedDay, index: number): Reference =>
  newReference('DCS', day.start, (offsetOf(day) + index + 0.5) / SUFFIXES)

/** Returns a completed debit; the debits are spread evenly over the day. */
const debitOf = (day: CompletedDay, index: number): Debit => {
  const at = new Date(day.start.getTime() + Math.floor((index / day.count) * DAY_MS))
  const facts = {
    reference: referenceIn(day, index),
    provider: day.provider,
    partnerReference: `order-2026-11-21-${String(index).padStart(12, '0')}`,
    amount: pesewas(1_00 + (index % 999_901)),
    narration: 'Payment for your order, thank you for shopping',
  }
  const changes = { bankReference: `GCB-${index}`, approvalMethod: 'ussd' as const }
  const processing = bankMove('processing', { at, changes })(pendingDebit(facts, at)) as Debit
  return bankMove('completed', { at })(processing) as Debit
}

const ITEMS_PER_WRITE = 25
const WRITERS = 6

/** Writes the debits of a day, completed and unsettled. */
export const seed = async (day: CompletedDay): Promise<void> => {
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < day.count) {
      const from = next
      next += ITEMS_PER_WRITE
      const items = Array.from(
        { length: Math.min(ITEMS_PER_WRITE, day.count - from) },
        (_, offset) => {
          const debit = debitOf(day, from + offset)
          return { PutRequest: { Item: { ...toDebitItem(debit), ...workAfter(debit) } } }
        },
      )
      await table.send(new BatchWriteCommand({ RequestItems: { [tableName()]: items } }))
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}
