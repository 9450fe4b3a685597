import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Debit } from '../domain/debit.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Runtime } from '../runtime.ts'
import { reasons, withConflictRetries } from './conflicts.ts'
import { writeEntry } from './debit-item.ts'
import { findDebit } from './debits.ts'
import { keys, table, tableName } from './table.ts'

/** Rivals for one debit are few: its bank, its clocks, an operator. */
const RACES_MAX = 5

/**
 * Judges a debit and writes the state that the judgement leads to, if the one it was judged by
 * still stands; else it is read and judged again, so the first write wins and the loser is told.
 * @param judge the next state, the very same debit where nothing is to be written, or a refusal
 */
export const moveDebit = async (
  debit: Debit,
  judge: (now: Debit) => Debit | Refusal,
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<Debit | Refusal> => {
  let now = debit
  for (let race = 1; race <= RACES_MAX; race += 1) {
    const after = judge(now)
    if (after instanceof Refusal || after === now) return after
    if (await commit(now, after, runtime)) return after
    const found = await findDebit(debit.facts.reference)
    if (!found) throw new Error(`Debit ${debit.facts.reference} is gone`)
    now = found
  }
  throw new Error(`Debit ${debit.facts.reference} changed ${RACES_MAX} times meanwhile`)
}

/** @returns false when another write came first */
const commit = async (
  before: Debit,
  after: Debit,
  runtime: Pick<Runtime, 'random' | 'pause'>,
): Promise<boolean> => {
  try {
    await withConflictRetries(runtime, () => writeMove(before, after))
    return true
  } catch (error) {
    if (lostRace(error)) return isCommitted(after)
    throw error
  }
}

const writeMove = (before: Debit, after: Debit): Promise<unknown> => {
  const { partner, countedOn, amount } = after.facts
  const TableName = tableName()
  const update = { TableName, ...moveExpression(before, after) }
  if (after.status !== 'failed' || countedOn === undefined) {
    return table.send(new UpdateCommand(update))
  }
  // A failed debit gives its amount back to its day in the same write.
  return table.send(
    new TransactWriteCommand({
      TransactItems: [
        { Update: update },
        {
          Update: {
            TableName,
            Key: keys.dayTotal(partner, countedOn),
            UpdateExpression: 'ADD amountTotal :back',
            ConditionExpression: 'amountTotal >= :amount',
            ExpressionAttributeValues: { ':back': -amount, ':amount': amount },
          },
        },
      ],
    }),
  )
}

const moveExpression = (before: Debit, after: Debit) => ({
  Key: keys.debit(after.facts.reference),
  UpdateExpression:
    'SET #status = :to, #version = :next, #history = list_append(#history, :entries)',
  ConditionExpression: '#status = :from AND #version = :current',
  ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#history': 'history' },
  ExpressionAttributeValues: {
    ':from': before.status,
    ':current': before.version,
    ':to': after.status,
    ':next': after.version,
    ':entries': after.history
      .slice(before.history.length)
      .map((entry, n) => writeEntry(entry, after.history[before.history.length + n - 1])),
  },
})

const lostRace = (error: unknown): boolean =>
  error instanceof ConditionalCheckFailedException ||
  (error instanceof TransactionCanceledException && reasons(error)[0] === 'ConditionalCheckFailed')

/** Our own write may have been the one that came first: its answer was lost and it was repeated. */
const isCommitted = async (after: Debit): Promise<boolean> => {
  const now = await findDebit(after.facts.reference)
  const entry = now?.history[after.history.length - 1]
  const ours = after.history.at(-1)
  return (
    entry !== undefined &&
    entry.requestId === ours?.requestId &&
    entry.type === ours.type &&
    entry.at.getTime() === ours.at.getTime()
  )
}
