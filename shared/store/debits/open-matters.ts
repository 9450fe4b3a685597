import { chargedOn, type Reference } from '../../domain/ids.ts'
import { DAY_SECONDS, dayAfter } from '../../domain/time.ts'
import { mapConcurrent } from '../concurrent.ts'
import { keys } from '../keys.ts'
import { retainedFrom, YEAR_DAYS } from '../retention.ts'
import * as db from '../table.ts'
import { findOpenRefunds } from './refunds.ts'

/** Debits that must not expire: an operator or a bank still has to end something about them. */

const WRITES_AT_ONCE = 8

/** Returns the debits in a list that were charged before a day, without reading their items. */
const chargedBefore = async (list: string, before: string): Promise<Reference[]> => {
  const found = new Set<Reference>()
  for await (const page of db.queryPages(db.statusQuery(list))) {
    for (const { pk } of page) {
      const reference = String(pk).slice('DEBIT#'.length) as Reference
      if (chargedOn(reference) < before) found.add(reference)
    }
  }
  return [...found]
}

/** Extends all records of a debit. Attempts keep their thirty days. */
const extend = async (reference: Reference, expiresAt: number): Promise<void> => {
  const { pk } = keys.debit(reference)
  const items = await db.readCollection({ pk })
  const expiring = items.filter((item) => item.expiresAt && item.entity !== 'attempt')
  await mapConcurrent(expiring, WRITES_AT_ONCE, (item) =>
    db.updateIf(db.keyOf(item), {
      UpdateExpression: 'SET expiresAt = :later',
      ConditionExpression: 'expiresAt < :later',
      ExpressionAttributeValues: { ':later': expiresAt },
    }),
  )
}

/**
 * Extends the debits with an open exception or refund that may expire within a year, so that they stay
 * until it is decided, and a year longer.
 */
export const keepOpenMatters = async (now: Date): Promise<void> => {
  const from = retainedFrom(now)
  if (!from) return
  const before = dayAfter(from, YEAR_DAYS).replaceAll('-', '')
  const [excepted, refunded] = await Promise.all([
    chargedBefore(keys.exceptions('open'), before),
    chargedBefore(keys.refunds('due'), before),
  ])
  const refunds = await findOpenRefunds(refunded)
  const open = new Set([...excepted, ...refunds.map(({ reference }) => reference)])
  const later = db.expiresAt(now, 2 * YEAR_DAYS * DAY_SECONDS)
  await mapConcurrent([...open], WRITES_AT_ONCE, (reference) => extend(reference, later))
}
