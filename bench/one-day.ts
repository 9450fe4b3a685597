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

/** A day of a provider with completed debits, as they stand in the table, and its bare settlement. */

export type OneDay = {
  provider: ProviderId
  count: number
  /** Midnight at its beginning. */
  begins: Date
}

const DAY_MS = 86_400_000
const SUFFIXES = 36 ** 6

/** Tells the debits of one provider from those of others: references are of one space. */
let used = 0
const firsts = new Map<ProviderId, number>()
const firstOf = ({ provider, count }: OneDay): number => {
  const first = firsts.get(provider) ?? used
  if (!firsts.has(provider)) used += count
  firsts.set(provider, first)
  return first
}

const bank = { identifier: v.parse(BankIdentifier, 'GCB'), name: 'GCB Bank PLC' }
const phone = v.parse(PhoneNumber, '+233241234567')

/** Under which the nth debit of a day stands. */
export const referenceIn = (day: OneDay, n: number): Reference =>
  newReference('DCS', day.begins, (firstOf(day) + n + 0.5) / SUFFIXES)

/** The nth completed debit of a day; they are spread over it. */
const debitOf = (day: OneDay, n: number): Debit => {
  const at = new Date(day.begins.getTime() + Math.floor((n / day.count) * DAY_MS))
  const opened = openDebit(
    {
      reference: referenceIn(day, n),
      uuid: v.parse(Uuid, randomUUID()),
      provider: day.provider,
      partnerReference: `order-2026-11-21-${String(n).padStart(12, '0')}`,
      bank,
      phone,
      amount: pesewas(1_00 + (n % 999_901)),
      narration: 'Payment for your order, thank you for shopping',
      metadata: {},
    },
    { at, by: `provider:${day.provider}`, requestId: randomUUID() },
  )
  const cause = { at, by: 'bank:GCB', requestId: randomUUID() }
  const changes = { bankReference: `GCB-${n}`, approvalMethod: 'ussd' as const }
  const processing = advance(opened, { to: 'processing', changes, ...cause })
  if (processing instanceof Refusal) throw processing
  const completed = advance(processing, { to: 'completed', changes: {}, ...cause })
  if (completed instanceof Refusal) throw completed
  return completed
}

const ITEMS_PER_WRITE = 25
const WRITERS = 6

/** Puts the debits of a day into the table, as they stand when they wait for settlement. */
export const seed = async (day: OneDay): Promise<void> => {
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < day.count) {
      const from = next
      next += ITEMS_PER_WRITE
      const items = Array.from({ length: Math.min(ITEMS_PER_WRITE, day.count - from) }, (_, n) => {
        const debit = debitOf(day, from + n)
        return { PutRequest: { Item: { ...toDebitItem(debit), ...workAfter(debit) } } }
      })
      await table.send(new BatchWriteCommand({ RequestItems: { [tableName()]: items } }))
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}

/** The same transactions as settlement writes, one after the other, and nothing else. */
export const settleBarely = async (
  day: OneDay,
  { from, to }: { from: number; to: number },
  { now, newId }: Pick<Runtime, 'now' | 'newId'>,
): Promise<void> => {
  const { provider, begins } = day
  const date = dayOf(new Date(begins.getTime() + DAY_MS))
  const id = `STL-${date.replaceAll('-', '')}-BARE${String(firstOf(day) % 90).padStart(2, '0')}`
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
  for (let n = from; n < to; n += LINES_PER_WRITE) {
    const some = Math.min(LINES_PER_WRITE, to - n)
    const header =
      n === 0 ? { Put: { TableName: tableName(), Item: toBatchItem(batch) } } : isOpen(batch)
    const lines = Array.from({ length: some }, (_, k) => writesOf(batch.id, line, day, n + k))
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

const writesOf = (id: BatchId, line: Line, day: OneDay, n: number) => {
  const reference = referenceIn(day, n)
  return [
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
}
