import type { Reference } from '../domain/ids.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import { listBanks } from '../store/banks/banks.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { findWholeDebit, type WholeDebit } from '../store/debits/erasure.ts'
import { allOfCustomer, referenceAt } from '../store/debits/status-lists.ts'
import { queryOf } from '../store/index-lists.ts'
import { queryAll } from '../store/table.ts'

const READS_AT_ONCE = 32

const referencesOf = async (phone: PhoneNumber): Promise<Reference[]> => {
  const banks = await listBanks()
  const lists = banks.flatMap(({ identifier }) => allOfCustomer(identifier, phone))
  const entries = await mapConcurrent(lists, READS_AT_ONCE, (list) => {
    const { Limit, ...query } = queryOf(list)
    return queryAll(query)
  })
  // A debit that moves during the read is in two lists.
  return [...new Set(entries.flat().map(({ byTime }) => referenceAt(String(byTime))))]
}

/**
 * Reads the debits of a customer at all banks with their items, newest first. The index may lag by
 * a second, and lists no debit whose customer was erased.
 */
export const debitsOf = async (phone: PhoneNumber): Promise<WholeDebit[]> => {
  const references = (await referencesOf(phone)).sort().reverse()
  const found = await mapConcurrent(references, READS_AT_ONCE, findWholeDebit)
  return found.filter((one) => one !== undefined && one.debit.facts.phone === phone) as WholeDebit[]
}
