import type { DebitSummary } from '../../shared/views/operator/debit.ts'
import type { OutcomeCount, OutcomeCounts } from '../server/backend.ts'
import { debitStatuses } from './debit-statuses.ts'

export type Outcomes = ReturnType<typeof outcomesOf>[number]

const p95Of = (seconds: readonly number[]): number =>
  seconds.toSorted((one, other) => one - other)[Math.ceil(seconds.length * 0.95) - 1] ?? 0

const endOf = ({ completed_at, updated_at }: DebitSummary): string => completed_at ?? updated_at

const secondsOf = (debit: DebitSummary): number =>
  (Date.parse(endOf(debit)) - Date.parse(debit.created_at)) / 1000

/** Counts the debits that ended after a time, as a stage counts them in its log. */
export const countOutcomes = (debits: readonly DebitSummary[], after: number): OutcomeCounts => {
  const ended = debits.filter(
    (debit) =>
      (debit.completed_at !== null || debitStatuses[debit.status].isFailure) &&
      Date.parse(endOf(debit)) > after,
  )
  const codeOf = ({ status, error_code }: DebitSummary) =>
    debitStatuses[status].isFailure ? (error_code ?? 'unknown_error') : null
  const countBy = (by: 'bank' | 'provider'): OutcomeCount[] =>
    [...Map.groupBy(ended, (debit) => `${debit[by]} ${codeOf(debit)}`).values()].map((group) => {
      const newest = group.reduce((one, other) => (endOf(one) < endOf(other) ? other : one))
      return {
        name: newest[by],
        code: codeOf(newest),
        debits: group.length,
        p95: p95Of(group.map(secondsOf)),
        newest: { reference: newest.reference, at: endOf(newest) },
      }
    })
  return { bank: countBy('bank'), provider: countBy('provider') }
}

/**
 * Returns the outcomes by name, the lowest share in whole per cent first. `p95` is of the completed debits.
 */
export const outcomesOf = (counts: readonly OutcomeCount[]) =>
  [...Map.groupBy(counts, ({ name }) => name)]
    .map(([name, own]) => {
      const total = own.reduce((sum, { debits }) => sum + debits, 0)
      const { debits: completed = 0, p95 } = own.find(({ code }) => code === null) ?? {}
      const [lastError] = own
        .flatMap(({ code, newest }) => (code === null ? [] : [{ code, ...newest }]))
        .toSorted((a, b) => b.at.localeCompare(a.at))
      const share = Math.floor((completed / total) * 100)
      return { name, completed, failed: total - completed, share, p95, lastError }
    })
    .sort((one, other) => one.share - other.share || one.name.localeCompare(other.name))
