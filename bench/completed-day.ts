import { randomUUID } from 'node:crypto'
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { BankIdentifier } from '../shared/domain/banks/bank.ts'
import { advance, type Debit, openDebit } from '../shared/domain/debits/debit.ts'
import { newReference, type Reference, Uuid } from '../shared/domain/ids.ts'
import { pesewas } from '../shared/domain/money.ts'
import { PhoneNumber } from '../shared/domain/phone.ts'
import type { ProviderId } from '../shared/domain/providers/provider.ts'
import { Refusal } from '../shared/domain/refusal.ts'
import { toDebitItem, workAfter } from '../shared/store/debits/debit-item.ts'
import { table, tableName } from '../shared/store/table.ts'

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

const bank = { identifier: v.parse(BankIdentifier, 'GCB'), name: 'GCB Bank PLC' }
const phone = v.parse(PhoneNumber, '+233241234567')

export const referenceIn = (day: CompletedDay, index: number): Reference =>
  newReference('DCS', day.start, (offsetOf(day) + index + 0.5) / SUFFIXES)

/** Returns a completed debit; the debits are spread evenly over the day. */
const debitOf = (day: CompletedDay, index: number): Debit => {
  const at = new Date(day.start.getTime() + Math.floor((index / day.count) * DAY_MS))
  const opened = openDebit(
    {
      reference: referenceIn(day, index),
      uuid: v.parse(Uuid, randomUUID()),
      provider: day.provider,
      partnerReference: `order-2026-11-21-${String(index).padStart(12, '0')}`,
      bank,
      phone,
      amount: pesewas(1_00 + (index % 999_901)),
      narration: 'Payment for your order, thank you for shopping',
      metadata: {},
    },
    { at, by: `provider:${day.provider}`, requestId: randomUUID() },
  )
  const cause = { at, by: 'bank:GCB', requestId: randomUUID() }
  const changes = { bankReference: `GCB-${index}`, approvalMethod: 'ussd' as const }
  const processing = advance(opened, { to: 'processing', changes, ...cause })
  if (processing instanceof Refusal) throw processing
  const completed = advance(processing, { to: 'completed', changes: {}, ...cause })
  if (completed instanceof Refusal) throw completed
  return completed
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
