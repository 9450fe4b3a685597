import type { BankIdentifier, CustomerAccount, StoredAccount } from '../../domain/banks/bank.ts'
import type { PhoneNumber } from '../../domain/phone.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'

/** Numbers without an account here: banks are asked, and their misses are remembered. */

const MISS_SECONDS = 600

/** Half a read unit: an account that was linked a moment ago costs a question to the bank. */
export const isKnownNumber = async (phone: PhoneNumber, bank: BankIdentifier): Promise<boolean> =>
  (await db.read(keys.account(phone, bank), { isConsistent: false })) !== undefined

/** The time to live deletes late, so the stored time decides. */
export const isRecentMiss = async (bank: BankIdentifier, phone: PhoneNumber, at: Date) => {
  const miss = await db.read<{ expiresAt: number }>(keys.missedAccount(bank, phone))
  return miss !== undefined && miss.expiresAt > at.getTime() / 1000
}

export const putMiss = (bank: BankIdentifier, phone: PhoneNumber, at: Date): Promise<void> =>
  db.put(keys.missedAccount(bank, phone), 'missed-account', {
    expiresAt: db.expiresAt(at, MISS_SECONDS),
  })

/** Stores the account that a bank has. One that an operator has linked stays. */
export const putFoundAccount = async (
  phone: PhoneNumber,
  bank: BankIdentifier,
  account: Omit<CustomerAccount, 'accountType'>,
  at: Date,
  runtime: Pick<Runtime, 'newId'>,
): Promise<void> => {
  const changedAt = at.toISOString()
  const stored: StoredAccount = { ...account, accountType: 'mobile_money', changedAt }
  const item = { ...keys.account(phone, bank), entity: 'account', ...stored }
  await db.putIf({ ...item, revision: runtime.newId() }, db.isNew)
}
