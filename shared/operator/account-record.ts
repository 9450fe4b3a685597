import type { BankIdentifier, CustomerAccount } from '../domain/banks/bank.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { Runtime } from '../runtime.ts'
import { changeRecorder } from '../store/operator/changes.ts'
import { customerHasher } from '../store/operator/customer-hash.ts'
import type { Author } from './handler.ts'

/**
 * Returns the recorder of changes of a customer's account. Records have keyed hashes of phone, name
 * and account, because they outlive an erasure.
 */
export const accountRecorder = async (
  phone: PhoneNumber,
  bank: BankIdentifier,
  author: Author,
  runtime: Runtime,
) => {
  const hash = await customerHasher(runtime, { replaces: true })
  const customer = hash(phone)
  const fields = ({ accountNumber, accountType, status, customerName }: CustomerAccount) => ({
    name: hash(customerName),
    account_number: hash(accountNumber),
    account_type: accountType,
    status,
  })
  return changeRecorder({ ...author, target: `${customer} ${bank}`, bank, customer }, fields)
}
