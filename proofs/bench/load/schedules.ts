import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { Queues } from '../../../sandbox/aws/queues.ts'
import type { QueueName } from '../../../shared/queues/messages.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const BEFORE_MIDNIGHT_MS = 40 * MINUTE_MS
const AFTER_MIDNIGHT_MS = 10 * MINUTE_MS

/** The midnights of a run: the debits are settled at the first and paid at the second. */
export const NIGHTS = 2
const FIRST_MIDNIGHT = Date.UTC(2026, 0, 11)
/** Each run has days of its own, because functions of one process share their caches. */
const RUN_DAYS = 7
let runs = 0

/** Returns the first midnight, the first charge and the end of the next run. */
export const nextPeriod = () => {
  const midnight = FIRST_MIDNIGHT + runs * RUN_DAYS * DAY_MS
  runs += 1
  return {
    midnight,
    chargesAt: midnight - BEFORE_MIDNIGHT_MS,
    end: midnight + DAY_MS + AFTER_MIDNIGHT_MS,
  }
}

/** Puts the messages of the recurring schedules into their queues, around the midnights of a run. */
export const startSchedules = ({ at }: Clock, put: Queues['put'], midnight: number) => {
  const fire = (queue: QueueName, when: number) => at(when, () => void put(queue, '{}'))
  const payout = midnight + DAY_MS
  for (const minutes of [0, 20, 60]) fire('settlement-runs', midnight + minutes * MINUTE_MS)
  fire('reconciliations', midnight + 120 * MINUTE_MS)
  fire('settlement-runs', payout)
  for (const [from, to] of [
    [midnight - BEFORE_MIDNIGHT_MS, midnight + AFTER_MIDNIGHT_MS],
    [payout, payout + AFTER_MIDNIGHT_MS],
  ] as const) {
    for (let when = from; when <= to; when += MINUTE_MS) fire('sweeps', when)
  }
}
