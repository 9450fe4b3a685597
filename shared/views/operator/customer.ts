import type { CustomerAccount } from '../../domain/banks/bank.ts'
import type { Shows } from '../../domain/complete.ts'
import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import type { ReportException } from '../../domain/debits/exception.ts'
import { type Refund, shownRefund } from '../../domain/debits/refund.ts'
import { isRequest } from '../../domain/debits/reversal-request.ts'
import type { Access } from '../../domain/operator/access.ts'
import type { PhoneNumber } from '../../domain/phone.ts'
import type { Day } from '../../domain/time.ts'
import { statusView } from '../debit.ts'
import { exceptionView } from './exception.ts'

export type AccountResult = ReturnType<typeof accountView>

export const accountView = (
  phone: PhoneNumber,
  bank: string,
  { customerName, accountNumber, accountType, status }: CustomerAccount,
) =>
  ({
    phone_number: phone,
    bank,
    customer: customerName,
    account_number: accountNumber,
    account_type: accountType,
    status,
  }) satisfies Shows<CustomerAccount, 'customerName'>

/** `last_on`: the day on which the sweep erases the last debit; null if none follows. */
export type ErasureResult = { erased: number; later: number; last_on: Day | null }

/**
 * The sums of repeated erasures. `refused`: by the time of an erasure, the open work of its customer.
 * `next`: the time from which another call continues; null if none is left.
 */
export type RepeatedErasures = Omit<ErasureResult, 'last_on'> & {
  repeated: number
  refused: readonly string[]
  unreadable: number
  next: string | null
}

type ExportedDebit = {
  debit: Debit
  refund: Refund | undefined
  exceptions: readonly ReportException[]
  /** Receivers can respond with the personal data of the event. */
  responses: readonly { at: string; responseBody: string | null }[]
}

export type CustomerExport = ReturnType<typeof customerExportView>

/** Shows a customer the own data, with whole account numbers. */
export const customerExportView = (
  phone: PhoneNumber,
  accounts: readonly { bank: string; account: CustomerAccount }[],
  debits: readonly ExportedDebit[],
) => ({
  accounts: accounts.map(({ bank, account }) => accountView(phone, bank, account)),
  debits: debits.map(({ debit, refund, exceptions, responses }) => {
    const request = exceptions.find(isRequest) ?? null
    const { customer, ...shown } = statusView(debit, { refund: shownRefund(refund), request })
    const { accountNumber, provider } = stateAt(debit)
    return {
      ...shown,
      provider,
      customer: { ...customer, account_number: accountNumber },
      responses: responses.map(({ at, responseBody }) => ({ at, response_body: responseBody })),
    }
  }),
  exceptions: debits.flatMap(({ exceptions }) => exceptions.map(exceptionView)),
  recipients: recipientsOf(debits.map(({ debit }) => debit)),
})

/** Lists who received the data: each provider with its name at the charge, and each bank. */
const recipientsOf = (debits: readonly Debit[]) => {
  const all = debits.flatMap(({ facts }) => [
    { kind: 'provider', id: String(facts.provider), name: facts.providerName },
    { kind: 'bank', id: String(facts.bank.identifier), name: facts.bank.name },
  ])
  return [...new Map(all.map((one) => [`${one.kind} ${one.id}`, one])).values()]
}

export type AccessResult = ReturnType<typeof accessView>

export const accessView = ({ at, by, noun, verb }: Access) =>
  ({ at: at.toISOString(), by, noun, verb }) satisfies Shows<Access>
