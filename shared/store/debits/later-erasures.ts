import type { Reference } from '../../domain/ids.ts'
import { DAY_SECONDS, secondsAfter } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { groupsOf, mapConcurrent } from '../concurrent.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'
import { dueAt, type WorkItem } from '../work-index.ts'

/** Debits that the sweep erases later, and erased ones that it checks once again for texts. Their customer is named by the keyed hash alone. */

const PAGE = 100
const WRITES_AT_ONCE = 8

/** The sweep computes the times of a page again after these days, because a deployment can lower the age. */
const WAIT_DAYS = 7

const dueBy = (due: Date, { now }: Pick<Runtime, 'now'>): Date => {
  const latest = secondsAfter(now(), WAIT_DAYS * DAY_SECONDS)
  return due < latest ? due : latest
}

/** @param call distinguishes repeated calls about one customer */
type LaterErasure = { customer: string; call: string; references: readonly Reference[] }

/** Stores the debits in pages. The sweep computes the time of each. */
export const putLaterErasures = async (
  { customer, call, references }: LaterErasure,
  due: Date,
  runtime: Pick<Runtime, 'now'>,
): Promise<void> => {
  const pages = groupsOf(references, PAGE).map((page, n) => ({
    key: keys.laterErasure(customer, `${call}#${n}`),
    page,
  }))
  await mapConcurrent(pages, WRITES_AT_ONCE, ({ key, page }) =>
    db.put(key, 'later-erasure', { references: page, ...dueAt(key, dueBy(due, runtime), key.sk) }),
  )
}

export const findLaterErasure = async (key: WorkItem['key']): Promise<Reference[]> =>
  (await db.read<{ references: Reference[] }>(key))?.references ?? []

/** Stores the remaining debits of a page, or removes it. @returns false when another worker was first */
export const replaceLaterErasure = (
  { key, due }: WorkItem,
  references: readonly Reference[],
  next: Date,
  runtime: Pick<Runtime, 'now'>,
): Promise<boolean> => {
  const isUnchanged = {
    ConditionExpression: 'due = :due',
    ExpressionAttributeValues: { ':due': due },
  }
  return references.length === 0
    ? db.remove(key, isUnchanged)
    : db.updateIf(key, {
        UpdateExpression: 'SET #references = :references, due = :next',
        ConditionExpression: 'due = :due',
        ExpressionAttributeNames: { '#references': 'references' },
        ExpressionAttributeValues: {
          ':due': due,
          ':references': references,
          ':next': dueBy(next, runtime).toISOString(),
        },
      })
}
