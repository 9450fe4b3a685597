import { type Amount, amountText } from './amount.ts'
import type { Charge, ChargeFields, DebitDetail } from './wire.ts'

export type ChargeOptions = {
  /** E.164, such as `+233241234567`. */
  phoneNumber: string
  bankIdentifier: string
  amount: Amount
  /** Text for the customer, at most 100 characters. */
  narration: string
  /** Your own reference, unique for each debit: the idempotency key of a charge. */
  partnerReference: string
  metadata?: Record<string, unknown> | undefined
}

export type ChargedDebit = Charge['response'] & {
  /** The debit existed before this call, or an earlier attempt of this call created it. */
  replayed: boolean
}

/** A body with every field of the API; a field without a value is undefined. */
type ChargeBody = { [Field in keyof Required<ChargeFields>]: ChargeFields[Field] }

/** Returns the body of a charge. @throws TypeError for a number as amount */
export const chargeBody = (options: ChargeOptions): ChargeBody => ({
  phone_number: options.phoneNumber,
  bank_identifier: options.bankIdentifier,
  amount: amountText(options.amount),
  currency: 'GHS',
  narration: options.narration,
  partner_reference: options.partnerReference,
  // A copy: a repeat has the same body, also if the caller changes the object.
  metadata: options.metadata && JSON.parse(JSON.stringify(options.metadata)),
})

/** The service shows a narration in one line. */
const LINE_CHARACTERS = /[\t\r\n\u2028\u2029]/g

/** Reports whether a charge created the debit. Its metadata can have more members, because banks add some. */
export const isDebitOf = (body: ChargeBody, debit: DebitDetail): boolean => {
  const isSame: Record<keyof ChargeBody, boolean> = {
    phone_number: debit.customer.phone_number === body.phone_number,
    bank_identifier: debit.bank.identifier === body.bank_identifier,
    amount: debit.amount === body.amount,
    currency: debit.currency === body.currency,
    narration: debit.narration === body.narration.replaceAll(LINE_CHARACTERS, ' '),
    partner_reference: debit.partner_reference === body.partner_reference,
    metadata: Object.entries(body.metadata ?? {}).every(
      ([name, value]) => JSON.stringify(debit.metadata?.[name]) === JSON.stringify(value),
    ),
  }
  return Object.values(isSame).every(Boolean)
}
