import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { type Cause, type Debit, stateAt } from '../../domain/debits/debit.ts'
import { isOpen, lifecycle } from '../../domain/debits/lifecycle.ts'
import { isUnprompted, isUnwanted } from '../../domain/debits/prompts.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Jitter } from '../../runtime.ts'
import { withConflictRetries } from '../conflicts.ts'
import { keys } from '../keys.ts'
import { optimistically } from '../optimistic.ts'
import * as db from '../table.ts'
import { failedWrites, transactionMet } from '../transactions.ts'
import {
  customerListOf,
  expiryAfter,
  fromDebitItem,
  listOf,
  workAfter,
  writeCause,
  writeEntry,
} from './debit-item.ts'
import { findDebit } from './debits.ts'

/** Returns the next state, the unchanged object to write nothing, or a refusal. */
type Decide = (current: Debit) => Debit | Refusal
/** Writes in the transaction of a transition, such as the record of an operator's change. */
type OtherWrites = (previous: Debit, next: Debit) => readonly db.Write[]

/**
 * Applies `decide` and writes the result if the debit is unchanged since it was read; otherwise reads
 * it again and retries. The first write wins.
 */
export const transition = (
  debit: Debit,
  decide: Decide,
  runtime: Jitter,
  alongside: OtherWrites = () => [],
): Promise<Debit | Refusal> =>
  optimistically(`Debit ${debit.facts.reference}`, async (race) => {
    const current = race === 1 ? debit : await reload(debit)
    const next = decide(current)
    if (next instanceof Refusal || next === current) return next
    return commit(current, next, alongside(current, next), runtime)
  })

const reload = async ({ facts }: Debit): Promise<Debit> => {
  const debit = await findDebit(facts.reference)
  if (!debit) throw new Error(`Debit ${facts.reference} is gone`)
  return debit
}

/** Returns the written debit; undefined when another write was first. */
const commit = async (
  previous: Debit,
  next: Debit,
  others: readonly db.Write[],
  runtime: Jitter,
) => {
  try {
    const write = () => writeTransition(previous, next, others)
    return (await withConflictRetries(write, runtime)) ?? (await findCommitted(next))
  } catch (error) {
    // The write may have succeeded and its response was lost.
    const committed = await findCommitted(next)
    if (committed) return committed
    throw error
  }
}

/** Returns undefined when the debit has changed since it was read. */
const writeTransition = async (previous: Debit, next: Debit, others: readonly db.Write[]) => {
  const update = { TableName: db.tableName(), ...transitionExpression(previous, next) }
  const { countedOn } = next.facts
  const isReturned = lifecycle[previous.status].isCounted && !lifecycle[next.status].isCounted
  if (isReturned && countedOn !== undefined) {
    const result = await writeWithDayTotal(update, next, countedOn, others)
    if (result !== 'no day total') return result === 'written' ? reload(next) : undefined
  }
  if (others.length > 0) {
    const TransactItems = [{ Update: update }, ...others]
    const isWritten = await transactionMet(
      db.table.send(new TransactWriteCommand({ TransactItems })),
    )
    return isWritten ? reload(next) : undefined
  }
  try {
    const { Attributes } = await db.table.send(
      new UpdateCommand({ ...update, ReturnValues: 'ALL_NEW' }),
    )
    return Attributes && fromDebitItem(Attributes)
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined
    throw error
  }
}

// The positions of the writes of a failure.
const TRANSITION = 0
const DAY_TOTAL = 1

/**
 * Writes a failure and returns its amount to the day total in one transaction. A missing day total
 * must not block the failure: the caller then writes without it.
 */
const writeWithDayTotal = async (
  update: ReturnType<typeof transitionExpression> & { TableName: string },
  failed: Debit,
  day: string,
  others: readonly db.Write[],
): Promise<'written' | 'changed' | 'no day total'> => {
  const { provider, amount } = failed.facts
  const decrement = db.updateWrite(keys.dayTotal(provider, day), {
    UpdateExpression:
      'ADD amountTotal :back, invalidAccounts :invalid, refusedPrompts :refused, unwantedPrompts :unwanted',
    ConditionExpression: 'amountTotal >= :amount',
    ExpressionAttributeValues: {
      ':back': -amount,
      ':amount': amount,
      ':invalid': Number(stateAt(failed).errorCode === 'invalid_account'),
      ':refused': Number(isUnprompted(failed)),
      ':unwanted': Number(isUnwanted(failed)),
    },
  })
  const TransactItems = [{ Update: update }, decrement, ...others]
  const conditions = await failedWrites(db.table.send(new TransactWriteCommand({ TransactItems })))
  if (conditions.length === 0) return 'written'
  return conditions[DAY_TOTAL] && !conditions[TRANSITION] ? 'no day total' : 'changed'
}

/**
 * Reports whether a debit gets another list and place in the work index. An open debit keeps them, and so
 * does a completed one that is requested: it may be settled already.
 */
const isMoved = (previous: Debit, next: Debit): boolean =>
  previous.status !== next.status && !isOpen(next.status)

/** A settled debit that was reversed waits for another line, and does not expire. */
const placeExpression = (debit: Debit) => {
  const { work, due } = workAfter(debit)
  const { expiresAt } = expiryAfter(debit)
  const list = keys.debits(debit.facts.provider, listOf(debit.status))
  return {
    set: [
      'byStatus = :list, #work = :work, due = :due',
      ...(expiresAt ? ['expiresAt = :expires'] : []),
    ],
    remove: expiresAt ? '' : ' REMOVE expiresAt',
    names: { '#work': 'work' },
    values: {
      ':list': list,
      ':work': work,
      ':due': due,
      ...(expiresAt && { ':expires': expiresAt }),
    },
  }
}

const transitionExpression = (previous: Debit, next: Debit) => {
  const place = isMoved(previous, next) ? placeExpression(next) : undefined
  const set = [
    'SET #status = :to, #version = :next',
    '#history = list_append(#history, :entries)',
    ...(place?.set ?? []),
    ...(isUnprompted(next) ? ['byCustomer = :customer'] : []),
    ...(next.approval ? ['approval = :approval'] : []),
    ...(next.reversalRequest ? ['reversalRequest = :request'] : []),
  ]
  return {
    Key: keys.debit(next.facts.reference),
    UpdateExpression: `${set.join(', ')}${place?.remove ?? ''}`,
    ConditionExpression: '#status = :from AND #version = :current',
    ExpressionAttributeNames: {
      '#status': 'status',
      '#version': 'version',
      '#history': 'history',
      ...place?.names,
    },
    ExpressionAttributeValues: {
      ':from': previous.status,
      ':current': previous.version,
      ':to': next.status,
      ':next': next.version,
      ...place?.values,
      ':entries': next.history
        .slice(previous.history.length)
        .map((entry, index) =>
          writeEntry(entry, next.history[previous.history.length + index - 1]),
        ),
      ...(isUnprompted(next) && { ':customer': customerListOf(next) }),
      ...(next.approval && { ':approval': writeCause(next.approval) }),
      ...(next.reversalRequest && { ':request': writeCause(next.reversalRequest) }),
    },
  }
}

/** Detects that our own write was first: its response was lost and the SDK repeated it. */
const findCommitted = async (next: Debit): Promise<Debit | undefined> => {
  const current = await findDebit(next.facts.reference)
  const last = next.history.length - 1
  const [stored, written] = [current, next].map((debit) => debit?.history[last])
  // Two workers of one message can reach different outcomes in the same millisecond.
  const isOurs =
    stored?.type === written?.type &&
    isSameCause(stored, written) &&
    isSameCause(current?.approval, next.approval) &&
    isSameCause(current?.reversalRequest, next.reversalRequest)
  return isOurs ? current : undefined
}

const isSameCause = (one: Cause | undefined, other: Cause | undefined): boolean =>
  one?.requestId === other?.requestId &&
  one?.by === other?.by &&
  one?.at.getTime() === other?.at.getTime()
