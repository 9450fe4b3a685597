import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { ExceptionStatus, ReportException, Resolution } from '../../domain/debits/exception.ts'
import type { Reference } from '../../domain/ids.ts'
import { newestFirst } from '../../domain/time.ts'
import { countEntries } from '../index-lists.ts'
import { keys } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'

/** Rejected bank reports and failed refunds, open or resolved (docs/api.md#exceptions). */

export const fromExceptionItem = (item: db.Item) =>
  fromStored<ReportException>(db.withoutKeys(item), { at: true })

const itemOf = (exception: ReportException) => ({
  ...keys.exception(exception),
  entity: 'exception',
  ...toStored(exception),
  byStatus: keys.exceptions(exception.resolvedAt ? 'resolved' : 'open'),
  byTime: keys.byTime(exception.at, exception.reference),
})

export const putException = async (exception: ReportException): Promise<void> => {
  await db.table.send(new PutCommand(exceptionWrite(exception).Put))
}

export const exceptionWrite = (exception: ReportException) => db.putWrite(itemOf(exception))

/** Lists the exceptions of one debit, oldest first. */
export const findExceptions = async (reference: Reference): Promise<ReportException[]> =>
  (await db.readCollection(keys.exceptionsOf(reference))).map(fromExceptionItem)

const PAGE_SIZE = 100

/** Lists exceptions of one status, newest first. The index may lag behind new and resolved ones. */
export async function* exceptionPages(
  status: ExceptionStatus,
  span: db.Span = { from: new Date(0), before: new Date('9999-01-01') },
): AsyncGenerator<ReportException[]> {
  const query = db.spanQuery(keys.exceptions(status), span)
  for await (const page of db.queryPages({ ...query, ScanIndexForward: false, Limit: PAGE_SIZE })) {
    const items = await db.readMany(page.map(db.keyOf))
    yield items.map(fromExceptionItem).sort(newestFirst)
  }
}

const COUNTED_MAX = 1_000

/** Counts the open exceptions, to a thousand. */
export const countOpenExceptions = async (): Promise<number> => {
  const list = { index: 'by-status', key: keys.exceptions('open') } as const
  return (await countEntries(list, COUNTED_MAX)).count
}

/** Returns the write that marks an open exception as resolved. */
export const resolutionWrite = (
  exception: Pick<ReportException, 'reference' | 'at' | 'requestId'>,
  { note, resolvedBy, resolvedAt }: Resolution,
) =>
  db.updateWrite(keys.exception(exception), {
    UpdateExpression: 'SET resolvedAt = :at, resolvedBy = :by, note = :note, byStatus = :resolved',
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(resolvedAt)',
    ExpressionAttributeValues: {
      ':at': resolvedAt,
      ':by': resolvedBy,
      ':note': note,
      ':resolved': keys.exceptions('resolved'),
    },
  })
