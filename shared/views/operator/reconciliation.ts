import { formatAmount } from '../../domain/money.ts'
import type { Finding } from '../../domain/operator/finding.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Day } from '../../domain/time.ts'

type CheckedDay = {
  date: Day
  checkedAt: Date
  differences: number
  /** The providers that a restore holds. */
  held: readonly ProviderId[]
  /** Pesewas; `reversed`: reversed before settlement. */
  amounts: Record<'completed' | 'settled' | 'unsettled' | 'reversed', bigint>
  invariants: readonly Finding[]
}

export type ReconciliationResult = ReturnType<typeof reconciliationView>

export const reconciliationView = ({ date, checkedAt, amounts, ...rest }: CheckedDay) => ({
  date,
  checked_at: checkedAt.toISOString(),
  differences: rest.differences,
  held: rest.held,
  completed_debits: {
    completed: formatAmount(amounts.completed),
    settled: formatAmount(amounts.settled),
    unsettled: formatAmount(amounts.unsettled),
    reversed: formatAmount(amounts.reversed),
  },
  invariants: rest.invariants,
})
