import type { Bank } from '../../domain/banks/bank.ts'
import { formatAmount, type Pesewas, pesewas } from '../../domain/money.ts'
import type { Provider } from '../../domain/providers/provider.ts'
import type { RequestLimits } from '../../domain/request-limits.ts'
import type { Day } from '../../domain/time.ts'

/** The requests per minute by operation, and by what they are counted. */
type EffectiveLimits = Record<string, Record<string, number>>

const requestLimits = (overrides: RequestLimits = {}, effective: EffectiveLimits) => ({
  overrides,
  requests_per_minute: effective,
})

export type LimitResult = ReturnType<typeof providerLimitView> | ReturnType<typeof bankLimitView>

export const providerLimitView = (provider: Provider, effective: EffectiveLimits) => ({
  provider: provider.id,
  daily_limit: provider.dailyLimit === undefined ? null : formatAmount(provider.dailyLimit),
  ...requestLimits(provider.requestLimits, effective),
})

export const bankLimitView = (bank: Bank, effective: EffectiveLimits) => ({
  bank: bank.identifier,
  ...requestLimits(bank.requestLimits, effective),
})

export type UsageResult = ReturnType<typeof usageView>

/** Shows the amount used on a day. Charges are counted only for providers with a daily limit. */
export const usageView = (day: Day, dailyLimit: Pesewas | undefined, total: number) => {
  if (dailyLimit === undefined) return { day, used: null, left: null }
  const remaining = Math.max(0, dailyLimit - total)
  return { day, used: formatAmount(pesewas(total)), left: formatAmount(pesewas(remaining)) }
}
