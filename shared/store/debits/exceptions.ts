import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { ReportException } from '../../domain/debits/exception.ts'
import type { Reference } from '../../domain/ids.ts'
import { real } from '../../runtime.ts'
import { keys } from '../keys.ts'
import {
  queryPages,
  readCollection,
  readMany,
  table,
  tableName,
  type Write,
  withoutKeys,
} from '../table.ts'
import { transact } from '../transactions.ts'

/** Rejected bank reports and failed refunds: one record for each, in a list of open and a list of resolved ones. */

type Listed = { byStatus: string; byTime: string }
type Item = Omit<ReportException, 'at'> & { at: string } & Listed

const fromItem = (item: Record<string, unknown>): ReportException => {
  const { byStatus, byTime, at, ...exception } = withoutKeys<Item>(item)
  return { ...exception, at: new Date(at) }
}

const itemOf = (exception: ReportException) => ({
  ...keys.exception(exception.reference, exception.requestId),
  entity: 'exception',
  ...exception,
  at: exception.at.toISOString(),
  byStatus: keys.exceptions('open'),
  byTime: keys.byTime(exception.at, exception.reference),
})

export const putException = async (exception: ReportException): Promise<void> => {
  await table.send(new PutCommand(exceptionWrite(exception).Put))
}

/** Returns the write of an exception, for the transaction of its cause. */
export const exceptionWrite = (exception: ReportException) => ({
  Put: { TableName: tableName(), Item: itemOf(exception) },
})

/** The exceptions of one debit, in the order of their request ids. */
export const findExceptions = async (reference: Reference): Promise<ReportException[]> => {
  const { pk, prefix } = keys.exceptionsOf(reference)
  return (await readCollection(pk, prefix)).map(fromItem)
}

export type ExceptionStatus = 'open' | 'resolved'

type Span = { from: Date; before: Date }

const PAGE_SIZE = 100

const inSpan = (status: ExceptionStatus, { from, before }: Span) => ({
  IndexName: 'by-status',
  KeyConditionExpression: 'byStatus = :list AND byTime BETWEEN :from AND :before',
  ExpressionAttributeValues: {
    ':list': keys.exceptions(status),
    ':from': from.toISOString(),
    ':before': before.toISOString(),
  },
  ScanIndexForward: false,
  Limit: PAGE_SIZE,
})

/**
 * Exceptions of one status, newest first, page by page. The index may be late, so a new or a
 * newly resolved exception appears after a moment.
 */
export async function* exceptionPages(
  status: ExceptionStatus,
  span: Span = { from: new Date(0), before: new Date('9999-01-01') },
): AsyncGenerator<ReportException[]> {
  for await (const page of queryPages(inSpan(status, span))) {
    const items = await readMany(page.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })))
    yield items.map(fromItem).sort((one, other) => other.at.getTime() - one.at.getTime())
  }
}

type Resolution = Required<Pick<ReportException, 'note' | 'resolvedBy' | 'resolvedAt'>>

/**
 * Marks an open exception as resolved. An exception that is resolved stays as it is.
 * @param alongside writes in the same transaction, such as the record of the change
 */
export const resolveException = async (
  { reference, requestId }: Pick<ReportException, 'reference' | 'requestId'>,
  { note, resolvedBy, resolvedAt }: Resolution,
  alongside: readonly Write[] = [],
): Promise<void> => {
  const Update = {
    TableName: tableName(),
    Key: keys.exception(reference, requestId),
    UpdateExpression: 'SET resolvedAt = :at, resolvedBy = :by, note = :note, byStatus = :resolved',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(resolvedAt)',
    ExpressionAttributeValues: {
      ':at': resolvedAt,
      ':by': resolvedBy,
      ':note': note,
      ':resolved': keys.exceptions('resolved'),
    },
  }
  const TransactItems = [{ Update }, ...alongside]
  await transact(TransactItems, real)
}
