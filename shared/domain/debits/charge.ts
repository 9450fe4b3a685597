import * as v from 'valibot'
import type { Bank } from '../banks/bank.ts'
import type { BankState } from '../banks/health.ts'
import { type Complete, defined } from '../complete.ts'
import { debitUuid, type Reference } from '../ids.ts'
import { Metadata } from '../metadata.ts'
import { Amount, CURRENCY, formatAmount, type Pesewas } from '../money.ts'
import { PhoneNumber } from '../phone.ts'
import type { Provider } from '../providers/provider.ts'
import { Refusal } from '../refusal.ts'
import { singleLine, text, textMessage } from '../text.ts'
import { DAY_MS, dayOf } from '../time.ts'
import type { FieldCodes } from '../validation.ts'
import { type Cause, type Debit, type Facts, openDebit, type WholeFacts } from './debit.ts'

/** The body of a charge (docs/api.md#charge). Unknown keys are dropped. */
export const ChargeRequest = v.object(
  {
    phone_number: PhoneNumber,
    // For the API description only: the service rejects other text as an unknown bank, 402/1402.
    bank_identifier: v.pipe(v.string(textMessage), v.metadata({ pattern: '^[A-Z0-9]{3,5}$' })),
    amount: Amount,
    currency: v.pipe(v.string(textMessage), v.value(CURRENCY, 'must be GHS')),
    narration: text({ max: 100, lines: true }),
    partner_reference: text({ max: 50 }),
    // Serialisers of several languages write null for an absent field.
    metadata: v.nullish(Metadata),
  },
  'is required',
)
export type ChargeRequest = v.InferOutput<typeof ChargeRequest>

/** The code for a wrong value of one of these fields if no other field is wrong. */
export const CHARGE_FIELD_CODES: FieldCodes = { amount: 3007, currency: 3004 }

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { members: members.map(([key, member]) => [key, sorted(member)]) }
}

/**
 * Returns text that is equal for two charges if and only if their fields are equal, in any key order.
 * Absent and null fields and empty metadata are equal (docs/api.md#idempotency).
 */
export const fingerprint = (request: ChargeRequest): string => {
  const isEmpty = Object.keys(request.metadata ?? {}).length === 0
  const fields = Object.entries(isEmpty ? { ...request, metadata: null } : request)
  const given = fields.filter(([, value]) => value !== null && value !== undefined)
  return JSON.stringify(sorted(Object.fromEntries(given)))
}

/** Returns the request that created a debit. Earlier versions stored narrations with line breaks. */
export const requestOf = (facts: WholeFacts): Complete<ChargeRequest> => ({
  phone_number: facts.phone,
  bank_identifier: facts.bank.identifier,
  amount: facts.amount,
  currency: CURRENCY,
  narration: singleLine(facts.narration),
  partner_reference: facts.partnerReference,
  metadata: facts.metadata,
})

/** Returns 400/3005 for an amount above the maximum of a bank. */
export const aboveMaximum = (maximum: Pesewas): Refusal =>
  new Refusal(3005, {
    details: {
      amount: ["exceeds the bank's maximum"],
      limit: 'bank',
      maximum: formatAmount(maximum),
    },
  })

/** Returns 400/3005 for an amount above the rest of the daily limit of a UTC day, `YYYY-MM-DD`. */
export const aboveDailyLimit = (remaining: Pesewas, day: string): Refusal =>
  new Refusal(3005, {
    details: {
      amount: ['exceeds the remaining daily limit'],
      limit: 'daily',
      remaining: formatAmount(remaining),
      resets_at: new Date(Date.parse(day) + DAY_MS).toISOString(),
    },
  })

/** The refusal of a number for which the bank has no account. */
export const noAccount = (): Refusal =>
  new Refusal(1404, { message: 'Account not found', category: 'accounts' })

/** The seconds after which a refused charge may succeed: the sweep probes the bank each minute. */
const RETRY_SECONDS = 30

export const retryLater = (problem: string): Refusal =>
  new Refusal(2003, {
    details: { bank_identifier: [problem], retry_after: RETRY_SECONDS },
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  })

type ChargeContext = {
  provider: Provider
  bank: Bank | undefined
  bankState: BankState
  reference: Reference
} & Pick<Cause, 'at' | 'requestId' | 'generation'>

/**
 * Creates the debit of a valid request.
 * @returns 402/1402 for a bank that is unknown or not live, 503/2003 for one without a connector or
 *   that is down and refuses charges then, 400/3005 above the bank's maximum. The store checks the
 *   daily limit when it writes.
 */
export const accept = (request: ChargeRequest, context: ChargeContext): Debit | Refusal => {
  const { provider, bank, bankState, reference, ...cause } = context
  if (bank?.status !== 'live') {
    return new Refusal(1402, { details: { bank_identifier: ['is not supported'] } })
  }
  if (bank.connector === 'none') {
    return new Refusal(2003, { details: { bank_identifier: ['has no connector'] } })
  }
  if (bankState === 'down' && bank.whenDown === 'refuse') {
    return retryLater('does not reply')
  }
  if (bank.maximum !== undefined && request.amount > bank.maximum) {
    return aboveMaximum(bank.maximum)
  }
  const today = dayOf(cause.at)
  const isCounted = provider.dailyLimit !== undefined || provider.countedUntil === today
  const facts = defined<Complete<Facts>>({
    reference,
    uuid: debitUuid(reference),
    provider: provider.id,
    providerName: provider.name,
    partnerReference: request.partner_reference,
    bank: { identifier: bank.identifier, name: bank.name },
    phone: request.phone_number,
    amount: request.amount,
    narration: request.narration,
    metadata: request.metadata ?? {},
    countedOn: isCounted ? today : undefined,
  })
  return openDebit(facts, { ...cause, by: `provider:${provider.id}` })
}
