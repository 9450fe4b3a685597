import type { DebitSummary } from '../../shared/views/operator/debit.ts'
import { debitStatuses } from './debit-statuses.ts'

const BARS_MAX = 30
const STEPS_MINUTES = [1, 5, 15, 60, 240, 1_440]

const failedAt = ({ status, updated_at }: DebitSummary): string | null =>
  debitStatuses[status].isFailure ? updated_at : null

/** Returns the time of the last event of the debits, which can be days after their charge. */
export const lastEventOf = (debits: readonly DebitSummary[]): number =>
  Math.max(
    ...debits
      .flatMap((debit) => [debit.created_at, debit.completed_at, failedAt(debit)])
      .map((at) => (at ? Date.parse(at) : 0)),
  )

/** Counts the events per step; the step is the shortest that shows all debits in 30 bars. */
export const countDebits = (debits: readonly DebitSummary[], now: number) => {
  const first = Math.min(now, ...debits.map(({ created_at }) => Date.parse(created_at)))
  const minutes = STEPS_MINUTES.find((step) => now - first < step * 60_000 * (BARS_MAX - 1))
  const step = (minutes ?? 1_440) * 60_000
  const end = Math.floor(now / step)
  const times = Array.from({ length: BARS_MAX }, (_, index) => end - BARS_MAX + 1 + index)
  const count = (events: readonly (string | null)[]): number[] => {
    const counts = times.map(() => 0)
    for (const at of events) {
      const index = at ? Math.floor(Date.parse(at) / step) - (times[0] ?? 0) : -1
      if (index in counts) counts[index] = (counts[index] ?? 0) + 1
    }
    return counts
  }
  return {
    times: times.map((bar) => (bar * step) / 1000),
    charged: count(debits.map(({ created_at }) => created_at)),
    completed: count(debits.map(({ completed_at }) => completed_at)),
    failed: count(debits.map(failedAt)),
  }
}
