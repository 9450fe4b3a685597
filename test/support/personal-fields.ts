import { type PersonalRow, personalData } from '../../shared/domain/personal-data.ts'
import { singleLine } from '../../shared/domain/text.ts'

/** Unlikely values for the personal fields of shared/domain/personal-data.ts: a row without them does not compile. */

type Canaries<R extends PersonalRow> = Record<PersonalField<R>, unknown>
type PersonalField<R extends PersonalRow> = {
  [K in keyof Fields<R>]: Fields<R>[K] extends 'plain' ? never : K
}[keyof Fields<R>]
type Fields<R extends PersonalRow> = (typeof personalData)[R]['fields']

export const customerAccount = {
  customerName: 'CanaryCustomerNameZq',
  accountNumber: '9990001112223',
} satisfies Canaries<'account'>

export const settlementAccount = {
  accountNumber: '8887776665554',
  accountName: 'CanarySettlementNameZq',
} satisfies Canaries<'settlementAccount'>

export const chargeRequest = {
  phone_number: '+233247777777',
  narration: 'CanaryNarrationZq\r\n{"level":"ERROR"}',
  partner_reference: 'CanaryPartnerReferenceZq',
  metadata: { CanaryKeyZq: 'CanaryValueZq', CanaryNestedZq: { a: 1 } },
} satisfies Canaries<'chargeRequest'>

export const debitFacts = {
  partnerReference: chargeRequest.partner_reference,
  phone: chargeRequest.phone_number,
  narration: singleLine(chargeRequest.narration),
  metadata: chargeRequest.metadata,
} satisfies Canaries<'facts'>

export const debitChanges = {
  bankReference: 'CanaryBankReferenceZq',
  errorMessage: 'CanaryErrorMessageZq',
  ...customerAccount,
  metadata: { CanaryBankMetadataKeyZq: 'CanaryBankMetadataValueZq' },
} satisfies Canaries<'changes'>

/** Returns the canaries that an erasure removes. */
export const erased = (row: PersonalRow, canaries: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(canaries).filter(
      ([name]) => (personalData[row].fields as Record<string, string>)[name] === 'erased',
    ),
  )

/** Returns all texts of an object's values, and the keys of objects in it. */
export const textsIn = (fields: object): string[] =>
  Object.values(fields).flatMap((value) =>
    typeof value === 'object' && value !== null
      ? [...Object.keys(value), ...textsIn(value)]
      : String(value),
  )
