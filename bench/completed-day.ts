import { randomUUID } from 'node:crypto'
import { BatchWriteCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { BankIdentifier } from '../shared/domain/banks/bank.ts'
import { advance, type Debit, openDebit } from '../shared/domain/debits/debit.ts'
import { newReference, type Reference, Uuid } from '../shared/domain/ids.ts'
import { pesewas } from '../shared/domain/money.ts'
import { PhoneNumber } from '../shared/domain/phone.ts'
import type { ProviderId } from '../shared/domain/providers/provider.ts'
import { Refusal } from '../shared/domain/refusal.ts'
import { type BatchId, type Line, openBatch } from '../shared/domain/settlement/batch.ts'
import { debitLine } from '../shared/domain/settlement/line.ts'
import { dayOf } from '../shared/domain/time.ts'
import type { Runtime } from '../shared/runtime.ts'
import { toDebitItem, workAfter } from '../shared/store/debits/debit-item.ts'
import { keys } from '../shared/store/keys.ts'
import { toBatchItem, toLineItem } from '../shared/store/settlement/batch-item.ts'
import { LINES_PER_WRITE } from '../shared/store/settlement/lines.ts'
import { table, tableName } from '../shared/store/table.ts'

/** Seeds a day of completed debits of a provider, and settles it without the product's code. */

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

/** Sends the transactions that settlement sends, in sequence. */
export const settleBare = async (
  day: CompletedDay,
  { from, to }: { from: number; to: number },
  { now, newId }: Pick<Runtime, 'now' | 'newId'>,
): Promise<void> => {
  const { provider, start } = day
  const date = dayOf(new Date(start.getTime() + DAY_MS))
  const id = `STL-${date.replaceAll('-', '')}-BARE${String(offsetOf(day) % 90).padStart(2, '0')}`
  const batch = openBatch({
    id: id as BatchId,
    uuid: v.parse(Uuid, newId()),
    provider,
    date,
    n: 1,
    createdAt: now(),
    feeSchedule: null,
  })
  const line = debitLine(debitOf(day, 0), undefined)
  for (let first = from; first < to; first += LINES_PER_WRITE) {
    const length = Math.min(LINES_PER_WRITE, to - first)
    const header =
      first === 0 ? { Put: { TableName: tableName(), Item: toBatchItem(batch) } } : isOpen(batch)
    const lines = Array.from({ length }, (_, offset) =>
      writesOf(batch.id, line, referenceIn(day, first + offset)),
    )
    await table.send(new TransactWriteCommand({ TransactItems: [header, ...lines.flat()] }))
  }
}

const isOpen = ({ id }: { id: BatchId }) => ({
  ConditionCheck: {
    TableName: tableName(),
    Key: keys.batch(id),
    ConditionExpression: 'sealedAt = :not',
    ExpressionAttributeValues: { ':not': null },
  },
})

const writesOf = (id: BatchId, line: Line, reference: Reference) => [
  {
    Put: {
      TableName: tableName(),
      Item: toLineItem(id, { ...line, reference }),
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  },
  {
    Update: {
      TableName: tableName(),
      Key: keys.debit(reference),
      UpdateExpression: 'SET settledIn = :batch, #version = :next REMOVE #work, due',
      ConditionExpression:
        '#status = :status AND #version = :version AND attribute_not_exists(settledIn)',
      ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#work': 'work' },
      ExpressionAttributeValues: {
        ':batch': id,
        ':status': 'completed',
        ':version': 3,
        ':next': 4,
      },
    },
  },
]
