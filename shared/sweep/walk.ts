import { isOpen } from '../domain/debits/lifecycle.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { secondsAfter } from '../domain/time.ts'
import { logUnreadable } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { mainPages } from '../store/debits/debit-lists.ts'
import { followUnreadable } from '../store/debits/open-debits.ts'
import { findWithDeliveries } from '../store/webhooks/deliveries.ts'
import { type TimedReference, unsettledEntries } from '../store/work-index.ts'
import { UNREADABLE_SECONDS } from './overdue.ts'
import { type CheckedDebit, logFault } from './repair.ts'

const PAGE_SIZE = 100
/** Debits that ended in the same span were read before and are skipped. */
const CREATED_PAGE = 500
const READS_AT_ONCE = 10

type Walk = {
  provider: ProviderId
  span: { from: Date; before: Date }
  /** Debits that the work index lists. */
  known: ReadonlySet<Reference>
  runtime: Pick<Runtime, 'now'>
  timeIsUp: () => boolean
  /** Ends the reading of created debits, which follows that of ended ones. */
  createdTimeIsUp: () => boolean
}

/** The debits of a span, and the time until which the walk has listed them all. */
type Walked = { open: CheckedDebit[]; ended: CheckedDebit[]; until: Date }

/**
 * Reads each debit of a provider that was completed, or reversed after settlement, in a span, and each
 * one that was created in it and is still open. Reads eventually consistent: every debit was written
 * more than two minutes ago, and every write that follows is conditional.
 */
export const walk = async (walk: Walk): Promise<Walked> => {
  const { provider, span, known, runtime } = walk
  const ended = await load(
    unsettledEntries(provider, { ...span, pageSize: PAGE_SIZE }),
    known,
    walk,
  )
  const listed = new Set([...known, ...ended.debits.map(({ debit }) => debit.facts.reference)])
  // Later ones belong to the next run.
  const reached = { ...span, before: ended.until }
  const pages = mainPages(provider, reached, CREATED_PAGE)
  const created = await load(pages, listed, {
    ...walk,
    span: reached,
    timeIsUp: walk.createdTimeIsUp,
  })
  const due = secondsAfter(runtime.now(), UNREADABLE_SECONDS)
  for (const reference of created.unreadable) await followUnreadable(provider, reference, due)
  return {
    open: created.debits.filter(({ debit }) => isOpen(debit.status)),
    ended: ended.debits,
    until: created.until,
  }
}

const load = async (
  pages: AsyncIterable<readonly TimedReference[]>,
  known: ReadonlySet<Reference>,
  { provider, span, timeIsUp }: Walk,
) => {
  const debits: CheckedDebit[] = []
  const unreadable: Reference[] = []
  let reached: Date | undefined
  try {
    for await (const page of pages) {
      if (reached && timeIsUp()) return { debits, unreadable, until: reached }
      const fresh = page.filter(({ reference }) => !known.has(reference))
      await mapConcurrent(fresh, READS_AT_ONCE, async ({ reference }) => {
        const { debit, deliveries } = await findWithDeliveries(reference, {
          isConsistent: false,
          unreadable: (subject, error) => {
            unreadable.push(subject)
            logUnreadable('sweep')(subject, error)
          },
        })
        if (debit) debits.push({ debit, deliveries })
      })
      reached = page.at(-1)?.at ?? reached
    }
    return { debits, unreadable, until: span.before }
  } catch (error) {
    // The next run continues after the last complete page. Otherwise one fault of many calls would
    // keep a busy provider behind.
    if (!reached) throw error
    logFault(provider, error)
    return { debits, unreadable, until: reached }
  }
}
