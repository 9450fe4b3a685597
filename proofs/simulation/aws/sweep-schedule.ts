import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { Change, Item } from '../../../sandbox/aws/table/change.ts'

/**
 * Fires the sweep only in minutes in which it can find work; the others would dominate the run
 * time.
 */

const MINUTE_MS = 60_000
/** The sweep checks a debit this long after its creation, and after its completion. */
const BEHIND_MS = 150_000

/** When the sweep has work; none remains once it has passed `since`. */
type Due = { at: number; since?: number }

const duesOf = ({ work, due, byStatus, byTime }: Item): Due[] => {
  const [list, dueAt] = [String(work), Date.parse(String(due))]
  const behind = (since: number): Due => ({ at: since + BEHIND_MS, since })
  return [
    ...(list.startsWith('WATCH#') ? [{ at: dueAt }] : []),
    ...(list.startsWith('SETTLE#') ? [behind(dueAt)] : []),
    ...(String(byStatus).endsWith('#good')
      ? [behind(Date.parse(String(byTime).split('#')[0] ?? ''))]
      : []),
  ]
}

export const newSweepSchedule = ({ clock, fire }: { clock: Clock; fire: () => void }) => {
  const duesByItem = new Map<string, readonly Due[]>()
  let sweptUntil = 0
  let next: { at: number; timer: { act: unknown } } | undefined

  const schedule = (dues: readonly Due[]): void => {
    const open = dues.filter(({ since = sweptUntil }) => since >= sweptUntil)
    const due = Math.min(...open.map(({ at }) => at))
    const at = (Math.floor(Math.max(due - 1, clock.now()) / MINUTE_MS) + 1) * MINUTE_MS
    if (at === Infinity || (next && next.at <= at)) return
    if (next) next.timer.act = undefined
    const timer = clock.at(at, () => {
      next = undefined
      fire()
      schedule([...duesByItem.values()].flat())
    })
    next = { at, timer }
  }

  return {
    follow: ({ before, after }: Change): void => {
      if (after?.pk === 'SWEEP') {
        const behind = Object.values((after.behind ?? {}) as Record<string, string>)
        sweptUntil = Math.min(...[String(after.until), ...behind].map((at) => Date.parse(at)))
        return
      }
      const { pk, sk } = (after ?? before) as Item
      const dues = after ? duesOf(after) : []
      if (dues.length > 0) duesByItem.set(`${pk} ${sk}`, dues)
      else duesByItem.delete(`${pk} ${sk}`)
      schedule(dues)
    },
  }
}
