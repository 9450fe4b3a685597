import { type Pesewas, pesewas } from '../money.ts'
import type { FeeSchedule } from '../providers/fee-schedule.ts'
import type { ProviderId } from '../providers/provider.ts'
import type { Month } from '../time.ts'
import { type Batch, noTotals, type Totals } from './batch.ts'

/** The statement of a provider's batches of a month (docs/api.md#monthly-statements). */
export type MonthlyStatement = {
  provider: ProviderId
  month: Month
  /** More batches or lines may follow. */
  isPartial: boolean
  /** The sums of the batches that are sealed and summed. */
  totals: Totals
  /** The sum of the completed payouts, less transfers of the provider. */
  paid: Pesewas
  fees: FeesOfSchedule[]
  batches: readonly Batch[]
}

/** The sums of the batches with the same schedule. A bank's own fee replaces that of the schedule. */
export type FeesOfSchedule = Pick<Totals, 'debits' | 'gross' | 'fee'> & {
  feeSchedule: FeeSchedule | null
  batches: number
}

const addTotals = (sums: Totals, more: Totals): Totals => ({
  count: sums.count + more.count,
  debits: sums.debits + more.debits,
  gross: pesewas(sums.gross + more.gross),
  fee: pesewas(sums.fee + more.fee),
  adjustments: pesewas(sums.adjustments + more.adjustments),
  net: pesewas(sums.net + more.net),
})

const totalsOf = (batches: readonly Batch[]): Totals =>
  batches.reduce((sums, { totals }) => addTotals(sums, totals ?? noTotals), noTotals)

/** Compares schedules by their values, in the order in which they applied. */
const feesOf = (batches: readonly Batch[]): FeesOfSchedule[] => {
  const groups = Map.groupBy(batches, ({ feeSchedule: schedule }) =>
    schedule
      ? [schedule.basisPoints, schedule.fixed, schedule.minimum, schedule.maximum].join(' ')
      : '',
  )
  return [...groups.values()].map((group) => {
    const { debits, gross, fee } = totalsOf(group)
    const feeSchedule = group[0]?.feeSchedule ?? null
    return { feeSchedule, batches: group.length, debits, gross, fee }
  })
}

/**
 * @param batches all batches of the provider whose day is in the month
 * @param isOpen whether the month can get further batches
 */
export const statementOf = (
  provider: ProviderId,
  month: Month,
  batches: readonly Batch[],
  isOpen: boolean,
): MonthlyStatement => ({
  provider,
  month,
  isPartial: isOpen || batches.some(({ totals }) => totals === null),
  totals: totalsOf(batches),
  paid: pesewas(
    batches.reduce((sum, { completedAt, paid }) => sum + (completedAt ? (paid ?? 0) : 0), 0),
  ),
  fees: feesOf(batches),
  batches,
})
