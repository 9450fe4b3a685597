import type { Shows } from '../../domain/complete.ts'
import { CURRENCY, formatAmount } from '../../domain/money.ts'
import type { Funding } from '../../domain/settlement/funding.ts'

export type FundingResult = ReturnType<typeof fundingView>

export const fundingView = (funding: Funding) =>
  ({
    bank: funding.bank,
    reference: funding.reference,
    amount: formatAmount(funding.amount),
    currency: CURRENCY,
    date: funding.date,
    recorded_at: funding.recordedAt.toISOString(),
    recorded_by: funding.recordedBy,
  }) satisfies Shows<Funding>
