import type { Shows } from '../../domain/complete.ts'
import { formatAmount } from '../../domain/money.ts'
import type { PaidProvider, Provider } from '../../domain/providers/provider.ts'
import { feeScheduleView } from '../batch.ts'

const ifFuture = (until: string | undefined, now: Date): string | null =>
  until && now < new Date(until) ? until : null

const settlementAccountView = ({ settlementAccount }: PaidProvider) =>
  settlementAccount
    ? {
        bank: settlementAccount.bank,
        account_number: settlementAccount.accountNumber,
        account_name: settlementAccount.accountName,
      }
    : null

export type ProviderResult = ReturnType<typeof providerView>

export const providerView = (provider: PaidProvider, now: Date) =>
  ({
    id: provider.id,
    name: provider.name,
    status: provider.status,
    daily_limit: provider.dailyLimit === undefined ? null : formatAmount(provider.dailyLimit),
    duplicates: provider.duplicates,
    reversals: provider.reversals ?? 'none',
    allow_list: provider.allowedAddresses ?? null,
    signs_requests: provider.requestSigning !== undefined,
    previous_request_secret_until: ifFuture(provider.requestSigning?.previous?.until, now),
    fee_schedule: feeScheduleView(provider.feeSchedule, formatAmount),
    settlement_account: settlementAccountView(provider),
    payouts_held_until: ifFuture(provider.payoutsHeldUntil, now),
  }) satisfies Shows<
    PaidProvider,
    'countedUntil' | 'allowedAddresses' | 'requestSigning' | 'requestLimits'
  >

export type RequestSecretResult = ReturnType<typeof requestSecretView>

export const requestSecretView = (provider: Provider, secret: string, now: Date) => ({
  provider: provider.id,
  request_secret: secret,
  previous_until: ifFuture(provider.requestSigning?.previous?.until, now),
})
