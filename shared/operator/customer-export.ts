import type { PhoneNumber } from '../domain/phone.ts'
import type { Runtime } from '../runtime.ts'
import { listAccounts } from '../store/banks/banks.ts'
import { putChange } from '../store/operator/changes.ts'
import { customerHasher } from '../store/operator/customer-hash.ts'
import { type CustomerExport, customerExportView } from '../views/operator/customer.ts'
import { debitsOf } from './customer-debits.ts'
import type { Author } from './handler.ts'

/** Returns everything that the table has about a customer, and records it. */
export const exportCustomer = async (
  { phone }: { phone: PhoneNumber },
  author: Author,
  runtime: Runtime,
): Promise<CustomerExport> => {
  const hash = await customerHasher(runtime)
  const customer = hash(phone)
  const [accounts, debits] = await Promise.all([listAccounts(phone), debitsOf(phone)])
  await putChange({ ...author, target: customer, customer }, { debits: debits.length })
  return customerExportView(phone, accounts, debits)
}
