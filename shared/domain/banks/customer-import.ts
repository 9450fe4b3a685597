import * as v from 'valibot'
import { PhoneNumber } from '../phone.ts'
import { CustomerAccount } from './bank.ts'

/** Accounts of a bank's customers from a file (docs/operations.md#customers-of-a-bank). */

const { customerName, accountNumber } = CustomerAccount.entries

/** A phone number with name and account; alone, its account is removed. */
export const ImportRow = v.union([
  v.tuple([PhoneNumber, customerName, accountNumber]),
  v.tuple([PhoneNumber]),
])
export type ImportRow = v.InferOutput<typeof ImportRow>

export const importChanges = ['added', 'changed', 'removed', 'unchanged'] as const
export type ImportChange = (typeof importChanges)[number]

/** The result of an import: numbers of accounts, and of lines that the command refused. */
export type ImportResult = Record<Exclude<ImportChange, 'unchanged'> | 'refused', number>

/** Returns the account after the import; undefined if it is removed. */
export const importedAccount = (
  [, customerName, accountNumber]: ImportRow,
  current: CustomerAccount | undefined,
): CustomerAccount | undefined =>
  customerName === undefined || accountNumber === undefined
    ? undefined
    : {
        customerName,
        accountNumber,
        accountType: current?.accountType ?? 'mobile_money',
        status: 'active',
      }

export const importChangeOf = (
  current: CustomerAccount | undefined,
  next: CustomerAccount | undefined,
): ImportChange => {
  if (!next) return current ? 'removed' : 'unchanged'
  if (!current) return 'added'
  const isSame =
    current.customerName === next.customerName &&
    current.accountNumber === next.accountNumber &&
    current.status === next.status
  return isSame ? 'unchanged' : 'changed'
}
