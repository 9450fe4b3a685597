import * as v from 'valibot'
import { BankIdentifier, CustomerAccount } from '../banks/bank.ts'
import { Pesewas } from '../money.ts'
import { FeeSchedule } from '../settlement/fee-schedule.ts'
import { oneOf, text } from '../text.ts'
import { DAY_SECONDS, secondsAfter } from '../time.ts'
import { RequestLimits } from './request-limits.ts'

export const ProviderId = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9-]{1,39}$/, 'must be 2 to 40 lowercase letters, digits or hyphens'),
  v.brand('ProviderId'),
)
export type ProviderId = v.InferOutput<typeof ProviderId>

/** Where what is settled is paid to. */
export const SettlementAccount = v.object({
  bank: BankIdentifier,
  accountNumber: CustomerAccount.entries.accountNumber,
  accountName: text({ max: 100 }),
})
export type SettlementAccount = v.InferOutput<typeof SettlementAccount>

/**
 * The request-signing secrets of a provider, sealed. `previous` is the one before the last rotation,
 * which is accepted until that time (ISO 8601).
 */
export const RequestSigning = v.object({
  secret: v.string(),
  previous: v.optional(v.object({ secret: v.string(), until: v.string() })),
})
export type RequestSigning = v.InferOutput<typeof RequestSigning>

type Rotation = { secret: string; at: Date; graceSeconds: number }

/** The secrets after a rotation. One that was previous already is dropped. */
export const replaced = (
  before: RequestSigning | undefined,
  { secret, at, graceSeconds }: Rotation,
): RequestSigning => {
  if (!before || graceSeconds === 0) return { secret }
  const until = secondsAfter(at, graceSeconds).toISOString()
  return { secret, previous: { secret: before.secret, until } }
}

/** A payment provider as an account. */
export const Provider = v.object({
  id: ProviderId,
  name: text({ max: 100 }),
  status: oneOf(['active', 'suspended']),
  /** Absent: the provider has no daily limit, and no counter is kept. */
  dailyLimit: v.optional(Pesewas),
  /** The UTC day on which the daily limit was removed: its charges are counted to the end. */
  countedUntil: v.optional(v.string()),
  /** What a repeated partner_reference with the same body gets: the transaction, or 409/3003. */
  duplicates: oneOf(['return', 'reject']),
  /** CIDR ranges that may call; absent: any. */
  allowedAddresses: v.optional(v.array(v.string())),
  /** Set: every request must carry X-Signature and X-Timestamp. */
  requestSigning: v.optional(RequestSigning),
  /** Absent: nothing is taken but what banks take themselves. */
  feeSchedule: v.optional(FeeSchedule),
  /** Absent: its batches cannot be paid out. */
  settlementAccount: v.optional(SettlementAccount),
  /** ISO 8601; set by each change of the account under approvals: no payout begins before it. */
  payoutsHeldUntil: v.optional(v.string()),
  requestLimits: v.optional(RequestLimits),
})
export type Provider = v.InferOutput<typeof Provider>

/**
 * Returns the members of a provider that its daily limit decides. Charges are counted on the day of
 * a removal as well, so a limit that is set again on that day knows what was charged between.
 * @param today the UTC day
 */
export const dailyLimitAfter = (
  { dailyLimit: before, countedUntil }: Pick<Provider, 'dailyLimit' | 'countedUntil'>,
  dailyLimit: Pesewas | undefined,
  today: string,
): Pick<Provider, 'dailyLimit' | 'countedUntil'> => {
  if (dailyLimit !== undefined) return { dailyLimit }
  const until = before === undefined ? countedUntil : today
  return until === undefined ? {} : { countedUntil: until }
}

const isSameAccount = (one?: SettlementAccount, other?: SettlementAccount): boolean =>
  one?.bank === other?.bank &&
  one?.accountNumber === other?.accountNumber &&
  one?.accountName === other?.accountName

/**
 * Returns the end of the hold on payouts, 24 hours after a change of the settlement account. The
 * first account of a provider is not held; an account that follows a removed one is.
 */
export const payoutsHeldUntil = (
  before: Pick<Provider, 'settlementAccount' | 'payoutsHeldUntil'>,
  account: SettlementAccount | undefined,
  at: Date,
): string | undefined => {
  const isFirst = !before.settlementAccount && before.payoutsHeldUntil === undefined
  if (isFirst || isSameAccount(before.settlementAccount, account)) return before.payoutsHeldUntil
  return secondsAfter(at, DAY_SECONDS).toISOString()
}
