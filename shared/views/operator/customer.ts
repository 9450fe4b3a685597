import type { CustomerAccount } from '../../domain/banks/bank.ts'
import type { Shows } from '../../domain/complete.ts'
import type { PhoneNumber } from '../../domain/phone.ts'

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
