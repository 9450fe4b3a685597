import * as v from 'valibot'
import { Pesewas } from '../money.ts'
import { RequestLimits } from '../request-limits.ts'
import { oneOf, text } from '../text.ts'
import { BankBehaviour } from './bank-behaviour.ts'
import { PayoutDays } from './calendar.ts'
import { StatementEncoding, statementFields } from './statement-format.ts'

export const BankIdentifier = v.pipe(
  v.string(),
  v.regex(/^[A-Z0-9]{3,5}$/, 'must be 3 to 5 uppercase letters or digits'),
  v.brand('BankIdentifier'),
)
export type BankIdentifier = v.InferOutput<typeof BankIdentifier>

/** `none`: the bank cannot be charged. */
export const ConnectorName = oneOf(['sandbox', 'http', 'none'])
export type ConnectorName = v.InferOutput<typeof ConnectorName>

export const WhenDown = oneOf(['accept', 'refuse'])

export const Bank = v.object({
  identifier: BankIdentifier,
  name: text({ max: 100 }),
  countryCode: v.literal('GH'),
  /** `inactive` accepts no new charges; a `suspended` bank cannot call either. */
  status: oneOf(['live', 'inactive', 'suspended']),
  connector: ConnectorName,
  /** The bank's maximum per transaction, if it is below the published one. */
  maximum: v.optional(Pesewas),
  connectorType: oneOf(['ussd', 'mobile_api', 'both']),
  ussdCode: v.optional(v.string()),
  packageName: v.optional(v.string()),
  /** Replaces the stage's cap on approval prompts (docs/api.md#approval-prompts). */
  openPromptsMax: v.optional(v.number()),
  /** `on`: the bank is asked for numbers that are unknown here. */
  accountLookup: v.optional(oneOf(['on', 'off'])),
  requestLimits: v.optional(RequestLimits),
  behaviour: v.optional(BankBehaviour),
  /** Whether charges are refused while the bank is down. Absent: they are accepted. */
  whenDown: v.optional(WhenDown),
  /** The days of payouts to accounts at this bank. Absent: all. */
  payoutDays: v.optional(PayoutDays),
  /** The columns of its statements. Absent: ours. */
  statementColumns: v.optional(v.record(oneOf(statementFields), v.string())),
  statementEncoding: v.optional(StatementEncoding),
})
export type Bank = v.InferOutput<typeof Bank>

/** Returns the behaviour of a bank with connector `sandbox`; undefined if it is the usual one. */
export const behaviourAt = (
  { connector, behaviour }: Bank,
  at: Date,
): BankBehaviour | undefined => {
  const isOver = behaviour?.until && new Date(behaviour.until) <= at
  return connector === 'sandbox' && !isOver ? behaviour : undefined
}

/** The endpoint of a bank, stored apart from the bank, which lists show. */
export type ConnectorSettings = {
  url: string
  /** The key of our request signatures. Absent: the stored one cannot be opened. */
  secret?: string
}

/** The key of a connector's secret is out of reach. */
export class UnreadableSecret extends Error {
  override readonly name = 'UnreadableSecret'
}

/** Lists the banks that can be charged, by name. */
export const liveBanks = (banks: Iterable<Bank>): Bank[] =>
  [...banks]
    .filter(({ status }) => status === 'live')
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))

export const CustomerAccount = v.object({
  customerName: text({ max: 100 }),
  accountNumber: v.pipe(v.string(), v.regex(/^[0-9]{6,20}$/, 'must be 6 to 20 digits')),
  accountType: oneOf(['mobile_money', 'savings', 'current']),
  status: oneOf(['active', 'inactive']),
})
export type CustomerAccount = v.InferOutput<typeof CustomerAccount>

/** `changedAt`: the time of the last write; absent if an earlier version wrote it. */
export type StoredAccount = CustomerAccount & { changedAt?: string }

/** Returns `*********1001` for a number of any length: the last digits distinguish accounts. */
export const maskAccount = (account: string): string => `*********${account.slice(-4)}`
