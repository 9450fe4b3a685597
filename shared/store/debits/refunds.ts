import type { Debit } from '../../domain/debits/debit.ts'
import {
  canHaveRefund,
  type Refund,
  type RefundList,
  refundStatuses,
  type ShownRefund,
  shownRefund,
} from '../../domain/debits/refund.ts'
import type { Reference } from '../../domain/ids.ts'
import { laterOf } from '../../domain/time.ts'
import type { Jitter } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { debitExpiry, type Expiry } from '../retention.ts'
import { putWith } from '../settings.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'
import { doubled, dueAt } from '../work-index.ts'

/** Refunds (docs/api.md#refunds): one item per debit, in its partition. */

const TIMES = {
  createdAt: true,
  processedAt: true,
  sentAt: true,
  completedAt: true,
  failedAt: true,
  notedAt: true,
} as const

/** The sweep sends a refund again until the bank gives its final reply. */
const workOf = ({ reference, status, processedAt, sentAt }: Refund, openedAt: Date) =>
  refundStatuses[status].isOpen
    ? dueAt(keys.refund(reference), doubled(processedAt ?? openedAt, sentAt ?? openedAt))
    : {}

const expiryOf = ({ status, completedAt, notedAt, failedAt, createdAt }: Refund): Expiry =>
  refundStatuses[status].isOpen
    ? {}
    : debitExpiry(completedAt ?? laterOf(failedAt, notedAt ?? createdAt))

const itemOf = (refund: Refund, openedAt = refund.createdAt) => ({
  ...keys.refund(refund.reference),
  entity: 'refund',
  ...workOf(refund, openedAt),
  byStatus: keys.refunds(refundStatuses[refund.status].list),
  byTime: keys.byTime(refund.completedAt ?? refund.createdAt, refund.reference),
  ...toStored(refund),
  failed: refund.failed.map(toStored),
  ...expiryOf(refund),
})

export const fromRefundItem = (item: db.Item): Refund => {
  const { expiresAt, ...members } = db.withoutKeys<db.Item>(item)
  const refund = fromStored<Refund>(members, TIMES)
  const failed = refund.failed.map((attempt) =>
    fromStored<Refund['failed'][number]>(attempt, { failedAt: true }),
  )
  // Refunds of earlier versions have no name, and no time of their last sending.
  const { providerName = refund.provider, sentAt = refund.processedAt } = refund
  return { ...refund, providerName, sentAt, failed }
}

export const findRefund = (reference: Reference) => db.find(keys.refund(reference), fromRefundItem)

export const findRefunds = async (references: readonly Reference[]): Promise<Refund[]> =>
  (await db.readMany(references.map(keys.refund))).map(fromRefundItem)

/** Reads the refund that providers and operators see, of a debit whose status can have one. */
export const findRefundOf = async ({ status, facts }: Debit): Promise<ShownRefund | null> =>
  canHaveRefund(status) ? shownRefund(await findRefund(facts.reference)) : null

/** Reads the refunds to which their banks have not given the final reply. */
export const findOpenRefunds = async (references: readonly Reference[]): Promise<Refund[]> =>
  (await findRefunds(references)).filter(({ status }) => refundStatuses[status].isOpen)

export const refundCreation = (refund: Refund) => db.putWrite(itemOf(refund), db.isNew)

/** @param openedAt the time of a retry, so that the sweep leaves it to its message */
export const refundReplacement = (previous: Refund, next: Refund, openedAt?: Date) => {
  const item = itemOf({ ...next, version: previous.version + 1 }, openedAt)
  return db.putWrite(item, db.hasVersion(previous.version))
}

/** Replaces a refund. @returns undefined when another worker was first */
export const replaceRefund = async (
  previous: Refund,
  next: Refund,
  alongside: readonly db.Write[],
  runtime: Jitter,
): Promise<Refund | undefined> => {
  const { Put } = refundReplacement(previous, next)
  const isWritten = await putWith(Put, alongside, runtime)
  return isWritten ? { ...next, version: previous.version + 1 } : undefined
}

const PAGE_SIZE = 100

/** Lists due refunds by their creation, or completed ones by their completion, oldest first. */
export async function* refundPages(list: RefundList, span: db.Span): AsyncGenerator<Refund[]> {
  const query = db.spanQuery(keys.refunds(list), span)
  for await (const page of db.queryPages({ ...query, Limit: PAGE_SIZE })) {
    const references = page.map(({ pk }) => String(pk).slice('DEBIT#'.length) as Reference)
    const items = await db.readMany(references.map(keys.refund))
    yield items.map(fromRefundItem)
  }
}
