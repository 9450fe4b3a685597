import type { CustomerAccount } from '../../domain/banks/bank.ts'
import type { Shows } from '../../domain/complete.ts'
import type { PhoneNumber } from '../../domain/phone.ts'
import type { Day } from '../../domain/time.ts'

/** @param last_on the day on which the sweep erases the last debit; null if none is left */
export type ErasureResult = { erased: number; later: number; last_on: Day | null }

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
