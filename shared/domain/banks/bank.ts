import * as v from 'valibot'
import { Pesewas } from '../money.ts'
import { RequestLimits } from '../providers/request-limits.ts'
import { oneOf, text } from '../text.ts'

export const BankIdentifier = v.pipe(
  v.string(),
  v.regex(/^[A-Z0-9]{3,5}$/, 'must be 3 to 5 uppercase letters or digits'),
  v.brand('BankIdentifier'),
)
export type BankIdentifier = v.InferOutput<typeof BankIdentifier>

/** The connectors that exist; a bank without one cannot be charged. */
export const ConnectorName = oneOf(['sandbox', 'http', 'none'])
export type ConnectorName = v.InferOutput<typeof ConnectorName>

/** A bank as it is kept: the published fields and what the service needs to reach it. */
export const Bank = v.object({
  identifier: BankIdentifier,
  name: text({ max: 100 }),
  countryCode: v.literal('GH'),
  /** `inactive` takes no new charges; `suspended` may not call either. */
  status: oneOf(['live', 'inactive', 'suspended']),
  connector: ConnectorName,
  /** The bank's own maximum per transaction, when it is lower than the published one. */
  maximum: v.optional(Pesewas),
  connectorType: oneOf(['ussd', 'mobile_api', 'both']),
  ussdCode: v.optional(v.string()),
  packageName: v.optional(v.string()),
  requestLimits: v.optional(RequestLimits),
})
export type Bank = v.InferOutput<typeof Bank>

/** How a bank of its own endpoint is reached; kept apart from the bank, which is listed. */
export type ConnectorSettings = {
  url: string
  /** Keys the signatures of our requests. */
  secret: string
}

/** The banks that can be charged, by name. */
export const liveBanks = (banks: Iterable<Bank>): Bank[] =>
  [...banks]
    .filter(({ status }) => status === 'live')
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))

/** An account of a customer at one bank, found by phone number. */
export const CustomerAccount = v.object({
  customerName: text({ max: 100 }),
  accountNumber: v.pipe(v.string(), v.regex(/^[0-9]{6,20}$/, 'must be 6 to 20 digits')),
  accountType: oneOf(['mobile_money', 'savings', 'current']),
  status: oneOf(['active', 'inactive']),
})
export type CustomerAccount = v.InferOutput<typeof CustomerAccount>
