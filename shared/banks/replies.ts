import * as v from 'valibot'
import { CustomerAccount } from '../domain/banks/bank.ts'
import { failureCodes } from '../domain/banks/failure-code.ts'
import { BankApproval, BankReference, ErrorMessage } from '../domain/debits/bank-update.ts'
import { Fee } from '../domain/money.ts'

/** The replies of a bank and their HTTP statuses (docs/bank-protocol.md), for connector and description. */

/** The members of a request that its reply repeats: their values, or in descriptions their form. */
type Echo = { uuid: v.GenericSchema<string, string>; amount: v.GenericSchema<string, string> }

const Message = v.pipe(ErrorMessage, v.nonEmpty())

// Metadata publishes the form that banks are asked for: the service is more lenient.
const Code = v.pipe(
  v.unknown(),
  v.metadata({ type: 'string', enum: [...failureCodes] }),
  v.fallback(v.picklist(failureCodes), 'unknown_error'),
)

const BankFee = v.pipe(
  v.custom<number | string>((fee) => typeof fee === 'number' || typeof fee === 'string'),
  v.metadata({ type: 'string', pattern: '^[0-9]+\\.[0-9]{2}$' }),
  v.transform(String),
  Fee,
)

// Drops a malformed detail, so that it never hides that the customer was debited.
const Detail = <S extends v.GenericSchema>(schema: S) => v.fallback(v.nullish(schema), null)

export const debitReplies = <const E extends Echo>(echo: E) => ({
  accepted: {
    statuses: [200, 202],
    body: v.object({ status: v.literal('accepted'), ...echo, bank_reference: BankReference }),
  },
  rejected: {
    statuses: [200, 422],
    body: v.object({
      status: v.literal('rejected'),
      ...echo,
      code: Code,
      message: Message,
      bank_reference: v.nullish(BankReference),
    }),
  },
  completed: {
    statuses: [200],
    body: v.object({
      status: v.literal('completed'),
      ...echo,
      bank_reference: BankReference,
      fee: Detail(BankFee),
      approval_method: Detail(BankApproval),
    }),
  },
  failed: {
    statuses: [200],
    body: v.object({
      status: v.literal('failed'),
      ...echo,
      code: Detail(Code),
      message: Detail(Message),
      bank_reference: Detail(BankReference),
    }),
  },
})

/** The reply to a question for the account of a phone number. */
export const accountReply = v.object({
  account_number: CustomerAccount.entries.accountNumber,
  name: CustomerAccount.entries.customerName,
  active: v.boolean(),
})

/** The replies to payouts and refunds. */
export const paymentReplies = <const E extends Echo>(echo: E) => ({
  paid: {
    statuses: [200, 201, 202],
    body: v.object({ status: v.literal('paid'), ...echo, bank_reference: BankReference }),
  },
  underway: {
    statuses: [200, 201, 202],
    body: v.object({ status: v.literal('underway'), ...echo }),
  },
  rejected: {
    statuses: [200, 422],
    body: v.object({
      status: v.literal('rejected'),
      ...echo,
      message: Message,
      bank_reference: v.nullish(BankReference),
    }),
  },
})
