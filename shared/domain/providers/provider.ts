import * as v from 'valibot'
import { BankIdentifier, CustomerAccount } from '../banks/bank.ts'
import type { Complete } from '../complete.ts'
import { Pesewas } from '../money.ts'
import { RequestLimits } from '../request-limits.ts'
import { oneOf, text } from '../text.ts'
import { DAY_SECONDS, secondsAfter } from '../time.ts'
import { FeeSchedule } from './fee-schedule.ts'

export const ProviderId = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9-]{1,39}$/, 'must be 2 to 40 lowercase letters, digits or hyphens'),
  v.brand('ProviderId'),
)
export type ProviderId = v.InferOutput<typeof ProviderId>

export const SettlementAccount = v.object({
  bank: BankIdentifier,
  accountNumber: CustomerAccount.entries.accountNumber,
  accountName: text({ max: 100 }),
})
export type SettlementAccount = v.InferOutput<typeof SettlementAccount>

/** Sealed secrets; the previous one is accepted until its time (ISO 8601). */
export const RequestSigning = v.object({
  secret: v.string(),
  previous: v.optional(v.object({ secret: v.string(), until: v.string() })),
})
export type RequestSigning = v.InferOutput<typeof RequestSigning>

/** Rotates the secrets. An older previous one is dropped. */
export const replaced = (
  current: RequestSigning | undefined,
  { secret, at, graceSeconds }: { secret: string; at: Date; graceSeconds: number },
): RequestSigning => {
  if (!current || graceSeconds === 0) return { secret }
  const until = secondsAfter(at, graceSeconds).toISOString()
  return { secret, previous: { secret: current.secret, until } }
}

export const Provider = v.object({
  id: ProviderId,
  name: text({ max: 100 }),
  status: oneOf(['active', 'suspended']),
  /** Absent: no daily limit and no counter. */
  dailyLimit: v.optional(Pesewas),
  /** The UTC day on which the daily limit was removed. Its charges are still counted. */
  countedUntil: v.optional(v.string()),
  /** The reply to a replayed charge: the transaction, or 409/3003 (docs/api.md#idempotency). */
  duplicates: oneOf(['return', 'reject']),
  /** CIDR ranges that may call (docs/api.md#allow-list). Absent: any. */
  allowedAddresses: v.optional(v.array(v.string())),
  /** Present: every request needs X-Signature and X-Timestamp. */
  requestSigning: v.optional(RequestSigning),
  /** Absent: only the fees of banks apply. */
  feeSchedule: v.optional(FeeSchedule),
  requestLimits: v.optional(RequestLimits),
  /** Whether it may request reversals (docs/api.md#reversal-requests). Absent: not. */
  reversals: v.optional(oneOf(['none', 'request'])),
})
export type Provider = v.InferOutput<typeof Provider>

/** The account of a provider's payouts, stored where few functions may read and fewer write. */
export type Payee = {
  /** Undefined: its batches cannot be paid out. */
  settlementAccount: SettlementAccount | undefined
  /** ISO 8601. A new account under approvals holds payouts until then. */
  payoutsHeldUntil: string | undefined
}

export type PaidProvider = Provider & Payee

/**
 * Returns the members of a provider that its daily limit decides. Charges are counted on the day of a
 * removal too, so that a new limit on that day includes them.
 * @param today the UTC day
 */
export const dailyLimitAfter = (
  { dailyLimit: previous, countedUntil }: Pick<Provider, 'dailyLimit' | 'countedUntil'>,
  dailyLimit: Pesewas | undefined,
  today: string,
): Complete<Pick<Provider, 'dailyLimit' | 'countedUntil'>> => {
  if (dailyLimit !== undefined) return { dailyLimit, countedUntil: undefined }
  return { dailyLimit, countedUntil: previous === undefined ? countedUntil : today }
}

const isSameAccount = (one?: SettlementAccount, other?: SettlementAccount): boolean =>
  one?.bank === other?.bank &&
  one?.accountNumber === other?.accountNumber &&
  one?.accountName === other?.accountName

/** Returns the end of the hold on payouts, 24 hours after a change of the settlement account. */
export const payoutsHeldUntil = (
  previous: Partial<Payee>,
  account: SettlementAccount | undefined,
  at: Date,
): string | undefined =>
  isSameAccount(previous.settlementAccount, account)
    ? previous.payoutsHeldUntil
    : secondsAfter(at, DAY_SECONDS).toISOString()
