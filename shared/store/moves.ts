import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Cause, Debit } from '../domain/debit.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Runtime } from '../runtime.ts'
import { failedConditions, withConflictRetries } from './conflicts.ts'
import { writeApproval, writeEntry } from './debit-item.ts'
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
    const written = await withConflictRetries(runtime, () => writeMove(before, after))
    return written || (await isCommitted(after))
  } catch (error) {
    // The answer may have been lost after the write was done.
    if (await isCommitted(after)) return true
    throw error
  }
}

/** @returns false when the state it was judged by no longer stands */
const writeMove = async (before: Debit, after: Debit): Promise<boolean> => {
  const update = { TableName: tableName(), ...moveExpression(before, after) }
  const { countedOn } = after.facts
  if (after.status === 'failed' && countedOn !== undefined) {
    const outcome = await writeWithDayTotal(update, after.facts, countedOn)
    if (outcome !== 'no day total') return outcome === 'written'
  }
  try {
    await table.send(new UpdateCommand(update))
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}

// The order of the writes of a failure that gives its amount back.
const MOVE = 0
const DAY_TOTAL = 1

/**
 * A failed debit gives its amount back to its day in the same write. A counter that was lost must
 * not keep a debit from its end, so the caller goes on without it.
 */
const writeWithDayTotal = async (
  update: ReturnType<typeof moveExpression> & { TableName: string },
  { partner, amount }: Debit['facts'],
  day: string,
): Promise<'written' | 'lost' | 'no day total'> => {
  const giveBack = {
    TableName: tableName(),
    Key: keys.dayTotal(partner, day),
    UpdateExpression: 'ADD amountTotal :back',
    ConditionExpression: 'amountTotal >= :amount',
    ExpressionAttributeValues: { ':back': -amount, ':amount': amount },
  }
  try {
    const TransactItems = [{ Update: update }, { Update: giveBack }]
    await table.send(new TransactWriteCommand({ TransactItems }))
    return 'written'
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error
    const failed = failedConditions(error)
    if (failed[MOVE]) return 'lost'
    if (failed[DAY_TOTAL]) return 'no day total'
    throw error
  }
}

const moveExpression = (before: Debit, after: Debit) => ({
  Key: keys.debit(after.facts.reference),
  UpdateExpression: [
    'SET #status = :to, #version = :next, byStatus = :list',
    '#history = list_append(#history, :entries)',
    ...(after.approval ? ['approval = :approval'] : []),
  ].join(', '),
  ConditionExpression: '#status = :from AND #version = :current',
  ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#history': 'history' },
  ExpressionAttributeValues: {
    ':from': before.status,
    ':current': before.version,
    ':to': after.status,
    ':next': after.version,
    ':list': keys.byStatus(after.facts.partner, after.status),
    ':entries': after.history
      .slice(before.history.length)
      .map((entry, n) => writeEntry(entry, after.history[before.history.length + n - 1])),
    ...(after.approval ? { ':approval': writeApproval(after.approval) } : {}),
  },
})

/** Our own write may have been the one that came first: its answer was lost and it was repeated. */
const isCommitted = async (after: Debit): Promise<boolean> => {
  const now = await findDebit(after.facts.reference)
  const ours = after.history.at(-1)
  const entry = now?.history[after.history.length - 1]
  return isSame(entry, ours) && isSame(now?.approval, after.approval)
}

/** The request and the instant tell one cause from another. */
const isSame = (one: Cause | undefined, other: Cause | undefined): boolean =>
  one?.requestId === other?.requestId && one?.at.getTime() === other?.at.getTime()
