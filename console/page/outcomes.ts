import type { DebitSummary } from '../../shared/views/operator/debit.ts'
import { debitStatuses } from './debit-statuses.ts'

const SPAN_MS = 15 * 60_000

export type Outcomes = {
  name: string
  completed: number
  failed: number
  /** Whole per cent of the outcomes. */
  share: number
  /** Seconds from the charge to the outcome of 95 % of the debits. */
  p95: number
  lastError: { reference: string; code: string; at: string } | undefined
}

const p95Of = (seconds: readonly number[]): number =>
  seconds.toSorted((one, other) => one - other)[Math.ceil(seconds.length * 0.95) - 1] ?? 0

const outcomesOf = (name: string, ended: readonly DebitSummary[]): Outcomes => {
  const failed = ended.filter(({ status }) => debitStatuses[status].isFailure)
  const completed = ended.length - failed.length
  const [last] = failed.toSorted((one, other) => (one.updated_at < other.updated_at ? 1 : -1))
  return {
    name,
    completed,
    failed: failed.length,
    share: Math.floor((completed / ended.length) * 100),
    p95: p95Of(
      ended.map((debit) => (Date.parse(endOf(debit)) - Date.parse(debit.created_at)) / 1000),
    ),
    lastError: last && {
      reference: last.reference,
      code: last.error_code ?? 'unknown_error',
      at: last.updated_at,
    },
  }
}

const endOf = ({ completed_at, updated_at }: DebitSummary): string => completed_at ?? updated_at

/** Returns the outcomes of the last 15 minutes by bank or provider, the lowest share first. */
export const recentOutcomes = (
  debits: readonly DebitSummary[],
  by: 'bank' | 'provider',
  now: number,
): Outcomes[] => {
  const ended = debits.filter(
    (debit) =>
      (debit.completed_at !== null || debitStatuses[debit.status].isFailure) &&
      now - Date.parse(endOf(debit)) < SPAN_MS,
  )
  const names = [...new Set(ended.map((debit) => debit[by]))]
  return names
    .map((name) =>
      outcomesOf(
        name,
        ended.filter((debit) => debit[by] === name),
      ),
    )
    .sort((one, other) => one.share - other.share || (one.name < other.name ? -1 : 1))
}
