import { bankEndpoint } from '../../shared/api/bank-endpoint.ts'
import { bankListView } from '../../shared/api/bank-view.ts'
import { invalid } from '../../shared/domain/refusal.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { allBanks, findAccount } from '../../shared/store/banks.ts'
import { listByCustomer } from '../../shared/store/debit-lists.ts'
import { partnerNames } from '../../shared/store/partners.ts'

/** What a customer has at this bank, newest first (specification, Bank: list customer transactions). */
export const listDebitTransactions = (runtime: Runtime) =>
  bankEndpoint('list-debit-transactions', runtime, async ({ caller, query, at }) => {
    const { phone_number: phone, status_filter: filter } = query
    const [account, all, banks] = await Promise.all([
      findAccount(phone, caller.bank),
      listByCustomer(caller.bank, phone),
      allBanks(at),
    ])
    const bank = banks.get(caller.bank)
    if (!account || !bank) return invalid({ customer: ['account not found'] })
    const debits = all.filter(({ status }) => filter === 'all' || status === filter)
    const names = await partnerNames(new Set(debits.map(({ facts }) => facts.partner)), at)
    return { data: bankListView({ account, bank, phone, debits, names, filter }) }
  })

export const handler = listDebitTransactions(real)
