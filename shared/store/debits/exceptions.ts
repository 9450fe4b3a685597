import { defined } from '../../domain/complete.ts'
import type { Debit } from '../../domain/debits/debit.ts'
import type { ExceptionStatus, ReportException, Resolution } from '../../domain/debits/exception.ts'
import {
  isRequest,
  RESPONSE_DAYS,
  type RequestException,
} from '../../domain/debits/reversal-request.ts'
import type { Reference } from '../../domain/ids.ts'
import { DAY_SECONDS, type Day, END_OF_TIME, secondsAfter, startOf } from '../../domain/time.ts'
import { countEntries } from '../index-lists.ts'
import type { KeySpan } from '../key-span.ts'
import { keys, sha256 } from '../keys.ts'
import { recordExpiry } from '../retention.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'

/** Rejected bank reports and failed refunds, open or resolved (docs/api.md#exceptions). */

export const fromExceptionItem = (item: db.Item): ReportException => {
  const { expiresAt, ...members } = db.withoutKeys<db.Item>(item)
  return {
    ...fromStored<ReportException>(members, { at: true }),
    // Without the text about an erased customer.
    report: (item.report ?? null) === null ? null : String(item.report),
  }
}

const expiryOf = ({ resolvedAt }: Pick<ReportException, 'resolvedAt'>) =>
  resolvedAt === undefined ? {} : recordExpiry(new Date(resolvedAt))

/**
 * Returns the update that resolves an exception.
 * @param isAccepted the decision on a request; undefined for other exceptions
 * @param settingOf returns the value of a member in the expression
 */
const resolutionUpdate = (
  { note, resolvedBy, resolvedAt }: Resolution,
  isAccepted: boolean | undefined,
  settingOf: (member: string) => string,
) => {
  const decision = defined({ resolvedAt, resolvedBy, note, isAccepted })
  const place = { byStatus: keys.exceptions('resolved'), ...expiryOf({ resolvedAt }) }
  const settings = [
    ...Object.keys(decision).map((member) => `${member} = ${settingOf(member)}`),
    ...Object.keys(place).map((member) => `${member} = :${member}`),
  ]
  return {
    UpdateExpression: `SET ${settings.join(', ')}`,
    ExpressionAttributeValues: Object.fromEntries(
      Object.entries({ ...decision, ...place }).map(([member, value]) => [`:${member}`, value]),
    ),
  }
}

const itemOf = (exception: ReportException) => ({
  ...keys.exception(exception),
  entity: 'exception',
  ...toStored(exception),
  byStatus: keys.exceptions(exception.resolvedAt ? 'resolved' : 'open'),
  byTime: listKeyOf(exception),
  ...expiryOf(exception),
})

export const putException = async (exception: ReportException): Promise<void> => {
  await db.putIf(itemOf(exception), {})
}

/** Writes an exception again that a failover lost. An existing one stays as it is. */
export const restoreException = (exception: ReportException): Promise<boolean> =>
  db.putIf(itemOf(exception), db.isNew)

export const exceptionWrite = (exception: ReportException) => db.putWrite(itemOf(exception))

/** Reads the provider's request to reverse a debit; null without one. */
export const findRequest = async ({
  facts,
  reversalRequest,
}: Debit): Promise<RequestException | null> => {
  const key = reversalRequest && keys.exception({ ...facts, ...reversalRequest })
  const request = key && (await db.find(key, fromExceptionItem))
  return request && isRequest(request) ? request : null
}

/** Returns the write that accepts a request as its debit is reversed. A declined one stays declined. */
export const acceptanceWrite = ({ facts, reversalRequest }: Debit, resolution: Resolution) =>
  reversalRequest
    ? [
        db.updateWrite(keys.exception({ ...facts, ...reversalRequest }), {
          ...resolutionUpdate(resolution, true, (member) => `if_not_exists(${member}, :${member})`),
          ConditionExpression: 'attribute_exists(pk)',
        }),
      ]
    : []

/** Lists the exceptions of one debit, oldest first. */
export const findExceptions = async (reference: Reference): Promise<ReportException[]> =>
  (await db.readCollection(keys.exceptionsOf(reference))).map(fromExceptionItem)

/** A bank may repeat a report without end. */
const REPEATS_MAX = 100

/** Lists the last exceptions of one debit, oldest first. */
export const findLastExceptions = async (reference: Reference): Promise<ReportException[]> => {
  const query = db.collectionQuery(keys.exceptionsOf(reference))
  const newest = await db.queryAll({ ...query, ScanIndexForward: false, Limit: REPEATS_MAX })
  return newest.map(fromExceptionItem).reverse()
}

const PAGE_SIZE = 100

const TIE_LENGTH = 8

/** The key of an exception in the lists, by its time. Two of one debit can have the same time. */
export const listKeyOf = ({ at, reference, requestId }: ReportException): string =>
  `${keys.byTime(at, reference)}#${sha256(requestId).slice(0, TIE_LENGTH)}`

const byKey = (one: ReportException, other: ReportException): number =>
  listKeyOf(one) < listKeyOf(other) ? 1 : -1

/** Lists exceptions of one status, by default newest first. The index may lag behind changes. */
export async function* exceptionPages(
  status: ExceptionStatus,
  span: KeySpan = { from: new Date(0), before: END_OF_TIME },
  isOldestFirst = false,
): AsyncGenerator<ReportException[]> {
  const query = db.spanQuery(keys.exceptions(status), span)
  const order = { ScanIndexForward: isOldestFirst, Limit: PAGE_SIZE }
  for await (const page of db.queryPages({ ...query, ...order })) {
    const items = await db.readMany(page.map(db.keyOf))
    const exceptions = items.map(fromExceptionItem).sort(byKey)
    yield isOldestFirst ? exceptions.reverse() : exceptions
  }
}

/** Counts the open requests of providers whose day for a decision has passed. */
export const countOverdueRequests = async (today: Day): Promise<number> => {
  const before = secondsAfter(startOf(today), -RESPONSE_DAYS * DAY_SECONDS)
  let count = 0
  for await (const page of exceptionPages('open', { from: new Date(0), before })) {
    count += page.filter(({ request }) => request && request.respondBy < today).length
  }
  return count
}

const COUNTED_MAX = 1_000

/** Counts the open exceptions, to a thousand. */
export const countOpenExceptions = async (): Promise<number> => {
  const list = { index: 'by-status', key: keys.exceptions('open') } as const
  return (await countEntries(list, COUNTED_MAX)).count
}

/** Returns the write that marks an open exception as resolved; a request is declined. */
export const resolutionWrite = (
  exception: Pick<ReportException, 'reference' | 'at' | 'requestId' | 'request'>,
  resolution: Resolution,
) =>
  db.updateWrite(keys.exception(exception), {
    ...resolutionUpdate(
      resolution,
      exception.request ? false : undefined,
      (member) => `:${member}`,
    ),
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(resolvedAt)',
  })
