import type { CustomerAccount } from '../../shared/domain/banks/bank.ts'
import type { ChargeRequest } from '../../shared/domain/debits/charge.ts'
import type { Changes, Facts } from '../../shared/domain/debits/debit.ts'
import type { SettlementAccount } from '../../shared/domain/providers/provider.ts'
import { singleLine } from '../../shared/domain/text.ts'

/**
 * The fields of debits and accounts: an unlikely value for a personal one, which no log may contain.
 * A new field does not compile until it is decided.
 */

/** May be logged. */
const PLAIN = Symbol('plain')
type Decided<Fields> = Record<keyof Fields, string | object | typeof PLAIN>

export const customerAccount = {
  customerName: 'CanaryCustomerNameZq',
  accountNumber: '9990001112223',
  accountType: PLAIN,
  status: PLAIN,
} satisfies Decided<CustomerAccount>

export const settlementAccount = {
  bank: PLAIN,
  accountNumber: '8887776665554',
  accountName: 'CanarySettlementNameZq',
} satisfies Decided<SettlementAccount>

export const chargeRequest = {
  phone_number: '+233247777777',
  bank_identifier: PLAIN,
  amount: PLAIN,
  currency: PLAIN,
  narration: 'CanaryNarrationZq\r\n{"level":"ERROR"}',
  partner_reference: 'CanaryPartnerReferenceZq',
  metadata: { CanaryKeyZq: 'CanaryValueZq', CanaryNestedZq: { a: 1 } },
} satisfies Decided<ChargeRequest>

export const debitFacts = {
  reference: PLAIN,
  uuid: PLAIN,
  provider: PLAIN,
  providerName: PLAIN,
  partnerReference: chargeRequest.partner_reference,
  bank: PLAIN,
  phone: chargeRequest.phone_number,
  amount: PLAIN,
  narration: singleLine(chargeRequest.narration),
  metadata: chargeRequest.metadata,
  countedOn: PLAIN,
} satisfies Decided<Facts>

export const debitChanges = {
  bankReference: 'CanaryBankReferenceZq',
  approvalMethod: PLAIN,
  fee: PLAIN,
  errorMessage: 'CanaryErrorMessageZq',
  errorCode: PLAIN,
  customerName: customerAccount.customerName,
  accountNumber: customerAccount.accountNumber,
  refund: PLAIN,
  metadata: { CanaryBankMetadataKeyZq: 'CanaryBankMetadataValueZq' },
} satisfies Decided<Changes>

/** Returns the personal fields alone. */
export const personal = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== PLAIN))

/** Returns all texts of an object's values, and the keys of objects in it. */
export const textsIn = (fields: object): string[] =>
  Object.values(fields).flatMap((value) =>
    typeof value === 'object' && value !== null
      ? [...Object.keys(value), ...textsIn(value)]
      : String(value),
  )
