import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Cause, Debit } from '../../domain/debits/debit.ts'
import { isOpen } from '../../domain/debits/lifecycle.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { table, tableName, type Write } from '../table.ts'
import { failedConditions, transactionMet, withConflictRetries } from '../transactions.ts'
import { fromDebitItem, workAfter, writeApproval, writeEntry } from './debit-item.ts'
import { findDebit } from './debits.ts'

/** Rivals for one debit are few: its bank, its clocks, an operator. */
const RACES_MAX = 5

type Decide = (now: Debit) => Debit | Refusal
type Jitter = Pick<Runtime, 'random' | 'pause'>
/** Writes in the transaction of a transition, such as the record of an operator's change. */
type OtherWrites = (before: Debit, after: Debit) => readonly Write[]

/**
 * Judges a debit and writes the state that the judgement leads to, if the one it was judged by
 * still stands; else it is read and judged again, so the first write wins and the loser is told.
 * @param judge the next state, the very same debit where nothing is to be written, or a refusal
 */
export const transition = async (
  debit: Debit,
  judge: Decide,
  runtime: Jitter,
  alongside: OtherWrites = () => [],
): Promise<Debit | Refusal> => {
  let now = debit
  for (let race = 1; race <= RACES_MAX; race += 1) {
    const after = judge(now)
    if (after instanceof Refusal || after === now) return after
    const committed = await commit(now, after, runtime, alongside)
    if (committed) return committed
    now = await reload(debit)
  }
  throw new Error(`Debit ${debit.facts.reference} changed ${RACES_MAX} times during one transition`)
}

/**
 * The same for a debit whose state is presumed. Where the presumption holds, that is one write;
 * where it does not, or leads to no write, the debit itself decides.
 */
export const transitionAssumed = async (
  presumed: Debit,
  judge: Decide,
  runtime: Jitter,
): Promise<Debit | Refusal> => {
  const after = judge(presumed)
  const committed =
    after instanceof Refusal || after === presumed
      ? undefined
      : await commit(presumed, after, runtime)
  return committed ?? transitionFresh(presumed, judge, runtime)
}

/** The same, with the debit read before it is judged. */
export const transitionFresh = async (
  debit: Debit,
  judge: Decide,
  runtime: Jitter,
): Promise<Debit | Refusal> => transition(await reload(debit), judge, runtime)

const reload = async ({ facts }: Debit): Promise<Debit> => {
  const found = await findDebit(facts.reference)
  if (!found) throw new Error(`Debit ${facts.reference} is gone`)
  return found
}

/** @returns the debit as it was written; undefined when another write came first */
const commit = async (
  before: Debit,
  after: Debit,
  runtime: Jitter,
  alongside: OtherWrites = () => [],
): Promise<Debit | undefined> => {
  const others = alongside(before, after)
  try {
    const written = await withConflictRetries(runtime, () => writeTransition(before, after, others))
    return written ?? (await findCommitted(after))
  } catch (error) {
    // The answer may have been lost after the write was done.
    const committed = await findCommitted(after)
    if (committed) return committed
    throw error
  }
}

/** @returns undefined when the state it was judged by no longer stands */
const writeTransition = async (
  before: Debit,
  after: Debit,
  others: readonly Write[],
): Promise<Debit | undefined> => {
  const update = { TableName: tableName(), ...transitionExpression(before, after) }
  const { countedOn } = after.facts
  if (after.status === 'failed' && countedOn !== undefined) {
    const outcome = await writeWithDayTotal(update, after.facts, countedOn, others)
    if (outcome !== 'no day total') return outcome === 'written' ? reload(after) : undefined
  }
  if (others.length > 0) {
    const TransactItems = [{ Update: update }, ...others]
    const isWritten = await transactionMet(table.send(new TransactWriteCommand({ TransactItems })))
    return isWritten ? reload(after) : undefined
  }
  try {
    const { Attributes } = await table.send(
      new UpdateCommand({ ...update, ReturnValues: 'ALL_NEW' }),
    )
    return Attributes && fromDebitItem(Attributes)
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined
    throw error
  }
}

// The order of the writes of a failure that gives its amount back.
const TRANSITION = 0
const DAY_TOTAL = 1

/**
 * A failed debit gives its amount back to its day in the same write. A counter that was lost must
 * not keep a debit from its end, so the caller goes on without it.
 */
const writeWithDayTotal = async (
  update: ReturnType<typeof transitionExpression> & { TableName: string },
  { provider, amount }: Debit['facts'],
  day: string,
  others: readonly Write[],
): Promise<'written' | 'lost' | 'no day total'> => {
  const giveBack = {
    TableName: tableName(),
    Key: keys.dayTotal(provider, day),
    UpdateExpression: 'ADD amountTotal :back',
    ConditionExpression: 'amountTotal >= :amount',
    ExpressionAttributeValues: { ':back': -amount, ':amount': amount },
  }
  try {
    const TransactItems = [{ Update: update }, { Update: giveBack }, ...others]
    await table.send(new TransactWriteCommand({ TransactItems }))
    return 'written'
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error
    const failed = failedConditions(error)
    if (failed[TRANSITION]) return 'lost'
    if (failed[DAY_TOTAL]) return 'no day total'
    throw error
  }
}

const transitionExpression = (before: Debit, after: Debit) => ({
  Key: keys.debit(after.facts.reference),
  UpdateExpression: [
    'SET #status = :to, #version = :next, byStatus = :list',
    '#history = list_append(#history, :entries)',
    // An open debit keeps the look that its charge has set: most have come to their end by then.
    ...(isOpen(after.status) ? [] : ['#work = :work, due = :due']),
    ...(after.approval ? ['approval = :approval'] : []),
  ].join(', '),
  ConditionExpression: '#status = :from AND #version = :current',
  ExpressionAttributeNames: {
    '#status': 'status',
    '#version': 'version',
    '#history': 'history',
    ...(isOpen(after.status) ? {} : { '#work': 'work' }),
  },
  ExpressionAttributeValues: {
    ':from': before.status,
    ':current': before.version,
    ':to': after.status,
    ':next': after.version,
    ':list': keys.byStatus(after.facts.provider, after.status),
    ...(isOpen(after.status) ? {} : workValues(after)),
    ':entries': after.history
      .slice(before.history.length)
      .map((entry, n) => writeEntry(entry, after.history[before.history.length + n - 1])),
    ...(after.approval ? { ':approval': writeApproval(after.approval) } : {}),
  },
})

const workValues = (after: Debit) => {
  const { work, due } = workAfter(after)
  return { ':work': work, ':due': due }
}

/** Our own write may have been the one that came first: its answer was lost and it was repeated. */
const findCommitted = async (after: Debit): Promise<Debit | undefined> => {
  const now = await findDebit(after.facts.reference)
  const n = after.history.length - 1
  const ours = isSame(now?.history[n], after.history[n]) && isSame(now?.approval, after.approval)
  return ours ? now : undefined
}

/** The request and the instant tell one cause from another. */
const isSame = (one: Cause | undefined, other: Cause | undefined): boolean =>
  one?.requestId === other?.requestId && one?.at.getTime() === other?.at.getTime()
