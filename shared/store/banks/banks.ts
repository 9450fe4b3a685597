import type {
  Bank,
  BankIdentifier,
  CustomerAccount,
  StoredAccount,
} from '../../domain/banks/bank.ts'
import type { PhoneNumber } from '../../domain/phone.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { environment, type Runtime } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, removeSettings, settingsIn } from '../settings.ts'
import * as db from '../table.ts'

/** Removes the simulated connector where the stage does not allow it: money must be real there. */
const fromBankItem = (item: db.Item): Bank => {
  const bank = settingsIn<Bank>(item)
  const isSimulated = bank.connector === 'sandbox' && !environment.sandboxBank
  return isSimulated ? { ...bank, connector: 'none' } : bank
}

const banks = ttlCache<ReadonlyMap<string, Bank>>(1)

/** Returns all banks by identifier, cached by a warm function. */
export const allBanks = (now: Date): Promise<ReadonlyMap<string, Bank>> =>
  banks('all', now, async () => new Map((await listBanks()).map((bank) => [bank.identifier, bank])))

export const listBanks = async () => (await db.readCollection(keys.banks)).map(fromBankItem)

export const findBank = (identifier: string) => db.find(keys.bank(identifier), fromBankItem)

/** @param alongside writes in the same transaction: connector settings, the record of the change */
export const changeBank = <C extends Bank | Refusal | undefined>(
  identifier: BankIdentifier,
  change: (previous: Bank | undefined) => C | Promise<C>,
  alongside: (previous: Bank | undefined, next: Bank) => readonly db.Write[],
  runtime: Runtime,
): Promise<C> => {
  const form = { entity: 'bank', from: fromBankItem, to: (bank: Bank) => bank }
  return changeSettings(keys.bank(identifier), form, change, alongside, runtime)
}

export const findAccount = (phone: string, bank: string): Promise<StoredAccount | undefined> =>
  db.find(keys.account(phone, bank), settingsIn<StoredAccount>)

export const listAccounts = async (phone: PhoneNumber) => {
  const { pk, sk: prefix } = keys.account(phone, '')
  const items = await db.readCollection({ pk })
  return items.map((item) => ({
    bank: String(item.sk).slice(prefix.length),
    account: settingsIn<CustomerAccount>(item),
  }))
}

export const putAccount = (
  phone: string,
  bank: string,
  account: CustomerAccount,
  alongside: (previous: CustomerAccount | undefined, next: CustomerAccount) => readonly db.Write[],
  runtime: Runtime,
): Promise<CustomerAccount> =>
  changeSettings(
    keys.account(phone, bank),
    {
      entity: 'account',
      from: settingsIn<CustomerAccount>,
      to: (stored) => ({ ...stored, changedAt: runtime.now().toISOString() }),
    },
    () => account,
    alongside,
    runtime,
  )

/** Removes the link to an account. Returns false when it did not exist. */
export const removeAccount = (
  phone: string,
  bank: string,
  alongside: (previous: CustomerAccount) => readonly db.Write[],
  runtime: Runtime,
) => removeSettings(keys.account(phone, bank), settingsIn<CustomerAccount>, alongside, runtime)
