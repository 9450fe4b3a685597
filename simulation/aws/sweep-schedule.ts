import type { Clock } from '../../aws/clock.ts'
import type { Change, Item } from '../../aws/table/change.ts'

/**
 * Fires the sweep only in minutes in which it can find work; the others would dominate the run
 * time.
 */

const MINUTE_MS = 60_000
/** The sweep checks a completed debit this long after its completion. */
const GRACE_MS = 120_000
/** The longest time that one sweep covers. */
const SPAN_MS = 600_000

type Deps = {
  clock: Clock
  fire: () => void
  /** Records that the sweep has covered the time before. */
  skipTo: (until: number) => void
}

export const newSweepSchedule = ({ clock, fire, skipTo }: Deps) => {
  const overdue = new Map<string, number>()
  const unsettled = new Map<string, number>()
  let swept = { until: 0, isCutOff: false }
  let next: { at: number; timer: { act: unknown } } | undefined

  const note = ({ pk, sk, work, due }: Item): void => {
    const key = `${pk} ${sk}`
    overdue.delete(key)
    unsettled.delete(key)
    if (typeof work !== 'string') return
    if (work.startsWith('WATCH#')) overdue.set(key, Date.parse(String(due)))
    if (work.startsWith('SETTLE#')) unsettled.set(key, Date.parse(String(due)))
  }

  const earliest = (times: Iterable<number>): number => {
    let smallest = Number.POSITIVE_INFINITY
    for (const time of times) if (time < smallest) smallest = time
    return smallest
  }

  const nextUnsettled = (): number =>
    earliest([...unsettled.values()].filter((due) => due > swept.until))

  const schedule = (): void => {
    const due = Math.min(earliest(overdue.values()), nextUnsettled() + GRACE_MS)
    const at = (Math.floor(Math.max(due - 1, clock.now()) / MINUTE_MS) + 1) * MINUTE_MS
    if (next && next.at <= at) return
    if (next) next.timer.act = undefined
    next = undefined
    if (at === Number.POSITIVE_INFINITY) return
    const timer = clock.at(at, () => {
      next = undefined
      const first = nextUnsettled()
      if (!swept.isCutOff && first !== Number.POSITIVE_INFINITY && first - swept.until > SPAN_MS) {
        skipTo(first - SPAN_MS)
      }
      fire()
      schedule()
    })
    next = { at, timer }
  }

  return {
    /** Follows a change of an item. */
    follow: ({ before, after }: Change): void => {
      if (!after) {
        overdue.delete(`${before?.pk} ${before?.sk}`)
        return
      }
      if (after.pk === 'SWEEP') {
        swept = { until: Date.parse(String(after.until)), isCutOff: after.end !== undefined }
      } else if ('work' in after || overdue.has(`${after.pk} ${after.sk}`)) note(after)
      else if (!unsettled.delete(`${after.pk} ${after.sk}`)) return
      schedule()
    },
  }
}
