import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { Change, Item } from '../../../sandbox/aws/table/change.ts'

/**
 * Fires the sweep only in minutes in which it can find work; the others would dominate the run
 * time.
 */

const MINUTE_MS = 60_000
/** The sweep checks a debit this long after its creation, and after its completion. */
const BEHIND_MS = 150_000

export const newSweepSchedule = ({ clock, fire }: { clock: Clock; fire: () => void }) => {
  const overdue = new Map<string, number>()
  const created = new Map<string, number>()
  const unsettled = new Map<string, number>()
  let sweptUntil = 0
  let next: { at: number; timer: { act: unknown } } | undefined

  const note = ({ pk, sk, work, due, byStatus, byTime }: Item): void => {
    const key = `${pk} ${sk}`
    for (const times of [overdue, created, unsettled]) times.delete(key)
    const list = String(work)
    if (list.startsWith('WATCH#')) overdue.set(key, Date.parse(String(due)))
    if (list.startsWith('SETTLE#')) unsettled.set(key, Date.parse(String(due)))
    const at = Date.parse(String(byTime).split('#')[0] ?? '')
    if (String(byStatus).endsWith('#good') && at >= sweptUntil) created.set(key, at)
  }

  const earliest = (times: Iterable<number>): number => {
    let smallest = Infinity
    for (const time of times) if (time < smallest) smallest = time
    return smallest
  }

  const nextUnswept = (): number =>
    earliest([...created.values(), ...unsettled.values()].filter((at) => at >= sweptUntil))

  const schedule = (): void => {
    const due = Math.min(earliest(overdue.values()), nextUnswept() + BEHIND_MS)
    const at = (Math.floor(Math.max(due - 1, clock.now()) / MINUTE_MS) + 1) * MINUTE_MS
    if (next && next.at <= at) return
    if (next) next.timer.act = undefined
    next = undefined
    if (at === Infinity) return
    const timer = clock.at(at, () => {
      next = undefined
      fire()
      schedule()
    })
    next = { at, timer }
  }

  return {
    follow: ({ before, after }: Change): void => {
      if (!after) {
        const key = `${before?.pk} ${before?.sk}`
        for (const times of [overdue, created, unsettled]) times.delete(key)
        return
      }
      if (after.pk === 'SWEEP') {
        const behind = Object.values((after.behind ?? {}) as Record<string, string>)
        sweptUntil = earliest([String(after.until), ...behind].map((at) => Date.parse(at)))
        for (const [key, at] of created) if (at < sweptUntil) created.delete(key)
      } else if ('byStatus' in after || 'work' in after || before) note(after)
      else return
      schedule()
    },
  }
}
