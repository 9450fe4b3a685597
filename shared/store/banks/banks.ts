import type { Bank, BankIdentifier, CustomerAccount } from '../../domain/banks/bank.ts'
import type { PhoneNumber } from '../../domain/phone.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { environment } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, removeSettings, settingsIn } from '../settings.ts'
import { read, readCollection, type Write } from '../table.ts'

/** Money is never taken by play: without the sandbox's bank, a bank that names it has none. */
const fromBankItem = (item: Record<string, unknown>): Bank => {
  const bank = settingsIn<Bank>(item)
  const isPlayed = bank.connector === 'sandbox' && !environment.sandboxBank
  return isPlayed ? { ...bank, connector: 'none' } : bank
}

const banks = ttlCache<ReadonlyMap<string, Bank>>({ entriesMax: 1 })

/** Every bank by its identifier; one short item collection, remembered by a warm function. */
export const allBanks = async (now: Date): Promise<ReadonlyMap<string, Bank>> => {
  const known = await banks.get(
    'all',
    { now, seconds: environment.cacheSeconds },
    async () => new Map((await listBanks()).map((bank) => [bank.identifier, bank])),
  )
  return known ?? new Map()
}

/** Every bank as it stands now, by identifier. */
export const listBanks = async (): Promise<Bank[]> =>
  (await readCollection(keys.banks.pk)).map(fromBankItem)

/** One bank as it stands now. */
export const findBank = async (identifier: string): Promise<Bank | undefined> => {
  const item = await read<Record<string, unknown>>(keys.bank(identifier))
  return item && fromBankItem(item)
}

/**
 * Writes what `change` makes of a bank as it stands: see {@link changeSettings}.
 * @param alongside writes in the same transaction: connector settings, the record of the change
 */
export const changeBank = <C extends Bank | Refusal | undefined>(
  identifier: BankIdentifier,
  change: (before: Bank | undefined) => C | Promise<C>,
  alongside?: (before: Bank | undefined, after: Bank) => readonly Write[],
): Promise<C> =>
  changeSettings(
    keys.bank(identifier),
    { entity: 'bank', from: fromBankItem, to: (bank) => bank },
    change,
    alongside,
  )

/** The account of a phone number at one bank. */
export const findAccount = async (
  phone: string,
  bank: string,
): Promise<CustomerAccount | undefined> => {
  const item = await read<Record<string, unknown>>(keys.account(phone, bank))
  return item && settingsIn<CustomerAccount>(item)
}

/** All accounts of a phone number. */
export const listAccounts = async (
  phone: PhoneNumber,
): Promise<{ bank: string; account: CustomerAccount }[]> => {
  const { pk, sk: prefix } = keys.account(phone, '')
  const items = await readCollection(pk)
  return items.map((item) => ({
    bank: String(item.sk).slice(prefix.length),
    account: settingsIn<CustomerAccount>(item),
  }))
}

/** Links an account in place of an earlier one: see {@link changeSettings}. */
export const putAccount = (
  phone: string,
  bank: string,
  account: CustomerAccount,
  alongside?: (before: CustomerAccount | undefined, after: CustomerAccount) => readonly Write[],
): Promise<CustomerAccount> =>
  changeSettings(
    keys.account(phone, bank),
    { entity: 'account', from: settingsIn<CustomerAccount>, to: (one) => one },
    () => account,
    alongside,
  )

/** @returns false when there was none */
export const removeAccount = (
  phone: string,
  bank: string,
  alongside: (before: CustomerAccount) => readonly Write[] = () => [],
): Promise<boolean> =>
  removeSettings(keys.account(phone, bank), settingsIn<CustomerAccount>, alongside)
