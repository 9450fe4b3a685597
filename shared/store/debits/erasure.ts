import type { Debit, Facts } from '../../domain/debits/debit.ts'
import { eraseDebit, eraseRefund } from '../../domain/debits/erasure.ts'
import { outcomeIn, type ReportException } from '../../domain/debits/exception.ts'
import type { Refund } from '../../domain/debits/refund.ts'
import type { Reference } from '../../domain/ids.ts'
import { erasedFields } from '../../domain/personal-data.ts'
import { type Attempt, eraseAttempt } from '../../domain/webhooks/attempt.ts'
import type { Jitter } from '../../runtime.ts'
import { keys } from '../keys.ts'
import type { Stored } from '../stored.ts'
import * as db from '../table.ts'
import { transact } from '../transactions.ts'
import { toDebitItem } from './debit-item.ts'
import { readDebit } from './debits.ts'
import { fromExceptionItem } from './exceptions.ts'
import { fromRefundItem, refundReplacement } from './refunds.ts'

/** The erasure of one debit, with all items of its partition. */

export type WholeDebit = {
  debit: Debit
  refund: Refund | undefined
  exceptions: readonly ReportException[]
  /** The items with responses of receivers. */
  responses: readonly db.Item[]
}

/** Reads all items of a debit, strongly consistent. */
export const findWholeDebit = async (reference: Reference): Promise<WholeDebit | undefined> => {
  const { pk } = keys.debit(reference)
  const items = Map.groupBy(await db.readCollection({ pk }), ({ entity }) => String(entity))
  const of = (entity: string) => items.get(entity) ?? []
  const [debit] = of('debit').map(readDebit)
  const [refund] = of('refund').map(fromRefundItem)
  const responses = ['delivery', 'receipt', 'attempt'].flatMap(of)
  return debit && { debit, refund, exceptions: of('exception').map(fromExceptionItem), responses }
}

/** Replaces a member if it is unchanged. */
const replaceMember = (item: db.Item, name: string, next: unknown): Promise<boolean> =>
  db.updateIf(db.keyOf(item), {
    UpdateExpression: 'SET #member = :next',
    ConditionExpression: '#member = :previous',
    ExpressionAttributeNames: { '#member': name },
    ExpressionAttributeValues: { ':next': next, ':previous': item[name] },
  })

type StoredResponse = Pick<Stored<Attempt>, 'id' | 'at' | 'responseBody'>

const eventsIn = ({ events }: db.Item) => (events ?? []) as { attempt: StoredResponse }[]

/** Returns the responses in a delivery, a receipt or an attempt. */
const responsesOf = (item: db.Item): StoredResponse[] =>
  ([item.attempt, item.last, ...eventsIn(item).map(({ attempt }) => attempt)] as const).flatMap(
    (one) => {
      const response = one as StoredResponse | null | undefined
      return response?.responseBody ? [response] : []
    },
  )

/** Returns what receivers of a debit's events responded, oldest first. A delivery repeats its last attempt. */
export const responsesIn = ({ responses }: Pick<WholeDebit, 'responses'>): StoredResponse[] => {
  const byId = new Map(responses.flatMap(responsesOf).map((one) => [one.id, one]))
  return [...byId.values()].sort((one, other) => (one.at < other.at ? -1 : 1))
}

/** Erases the responses in a delivery, a receipt or an attempt. @returns whether it had none */
const eraseResponses = async (item: db.Item): Promise<boolean> => {
  if (responsesOf(item).length === 0) return true
  const [name, attempt] =
    item.entity === 'attempt' ? ['attempt', item.attempt] : ['last', item.last]
  const next = eventsIn(item).map((event) => ({ ...event, attempt: eraseAttempt(event.attempt) }))
  await (item.events
    ? replaceMember(item, 'events', next)
    : replaceMember(item, String(name), eraseAttempt(attempt as StoredResponse)))
  return false
}

/**
 * The outcome in a bank's report stays, so that a repeat of it is resolved too, and so does the note of an
 * operator since the erasure, who may write it after this read.
 * @returns whether it had no other text
 */
const eraseException = async (exception: ReportException, erasedAt: Date): Promise<boolean> => {
  const { resolvedAt } = exception
  const isEarlier = resolvedAt !== undefined && new Date(resolvedAt) <= erasedAt
  const names = erasedFields('exception').filter((name) => name !== 'note' || isEarlier)
  const outcome = outcomeIn(exception.report ?? '')
  const rest = (name: string) => (name === 'report' ? outcome : null)
  if (names.every((name) => (exception[name] ?? null) === rest(name))) return true
  const removed = names.filter((name) => outcome === null || name !== 'report')
  const kept = outcome === null ? '' : 'SET #report = :outcome '
  await db.updateIf(keys.exception(exception), {
    UpdateExpression: `${kept}REMOVE ${removed.map((name) => `#${name}`).join(', ')}`,
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ...(outcome !== null && { ExpressionAttributeValues: { ':outcome': outcome } }),
  })
  return false
}

/**
 * Removes the hash of the request: a trial of all numbers would find its customer. A repeated charge is then 409/3003.
 * @returns whether there was none
 */
const eraseClaim = async ({ provider, partnerReference }: Facts): Promise<boolean> =>
  !(await db.updateIf(keys.partnerReference(provider, partnerReference), {
    UpdateExpression: 'REMOVE #request',
    ConditionExpression: 'attribute_exists(#request)',
    ExpressionAttributeNames: { '#request': 'request' },
  }))

/** Erases the texts around an erased debit, and its claim. @returns whether there were none */
export const eraseTexts = async (
  { debit, exceptions, responses }: WholeDebit,
  erasedAt: Date,
): Promise<boolean> => {
  const erasures = [
    eraseClaim(debit.facts),
    ...responses.map(eraseResponses),
    ...exceptions.map((exception) => eraseException(exception, erasedAt)),
  ]
  return (await Promise.all(erasures)).every(Boolean)
}

const debitErasure = (debit: Debit, at: Date) => {
  const { history, version } = toDebitItem(eraseDebit(debit, at))
  return db.updateWrite(keys.debit(debit.facts.reference), {
    UpdateExpression:
      'SET #history = :history, #version = :next, erasedAt = :at ' +
      `REMOVE byCustomer, ${erasedFields('facts').join(', ')}`,
    ConditionExpression: '#version = :previous',
    ExpressionAttributeNames: { '#history': 'history', '#version': 'version' },
    ExpressionAttributeValues: {
      ':history': history,
      ':next': version,
      ':at': at.getTime(),
      ':previous': debit.version,
    },
  })
}

/**
 * Erases the customer from a debit without open work. The debit and its refund change in one write,
 * before the texts around them: a worker that reads an erased debit writes no texts.
 * @returns false when another writer was first
 */
export const eraseWholeDebit = async (
  { debit, refund }: WholeDebit,
  at: Date,
  runtime: Jitter,
): Promise<boolean> => {
  const replaced = refund ? [refundReplacement(refund, eraseRefund(refund))] : []
  if (!(await transact([debitErasure(debit, at), ...replaced], runtime))) return false
  const whole = await findWholeDebit(debit.facts.reference)
  if (whole) await eraseTexts(whole, at)
  return true
}
