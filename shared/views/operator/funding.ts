import type { Shows } from '../../domain/complete.ts'
import { CURRENCY, formatAmount } from '../../domain/money.ts'
import { type Funding, fundingAmount } from '../../domain/settlement/funding.ts'

export type FundingResult = ReturnType<typeof fundingView>

export const fundingView = (funding: Funding) =>
  ({
    bank: funding.bank,
    reference: funding.reference,
    amount: formatAmount(fundingAmount(funding)),
    currency: CURRENCY,
    date: funding.date,
    recorded_at: funding.recordedAt.toISOString(),
    recorded_by: funding.recordedBy,
    /** The oldest first. */
    corrections: (funding.corrections ?? []).map((correction, index, all) => ({
      from: formatAmount(all[index - 1]?.amount ?? funding.amount),
      to: formatAmount(correction.amount),
      reason: correction.reason,
      at: correction.at,
      by: correction.by,
    })),
  }) satisfies Shows<Funding>
