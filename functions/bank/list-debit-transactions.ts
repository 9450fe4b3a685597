import { endpoint } from '../../shared/api/endpoint.ts'
import { fitting, following, listHash, positionIn } from '../../shared/api/pagination.ts'
import { pageRequest, placeOf } from '../../shared/domain/page.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { logUnreadable } from '../../shared/log.ts'
import { real } from '../../shared/runtime.ts'
import { allBanks, findAccount } from '../../shared/store/banks/banks.ts'
import { listByCustomer, positionOf, sumByCustomer } from '../../shared/store/debits/debit-lists.ts'
import { providerNames } from '../../shared/store/providers/providers.ts'
import { bankItemView, bankListView } from '../../shared/views/bank-debit.ts'
import { pageNumbersView } from '../../shared/views/page.ts'

/** Lists a customer's debits at the bank, newest first (docs/api.md#bank-list). */
export const listDebitTransactions = endpoint(
  'list-debit-transactions',
  async ({ caller, query, at }) => {
    const { phone_number: phone, status } = query
    const list = listHash('list-debit-transactions', caller.bank, { phone, status })
    const position = positionIn(list, query.cursor)
    if (position instanceof Refusal) return position
    const filter = { bank: caller.bank, phone, status }
    const request = pageRequest(query)
    const unreadable = logUnreadable('list-debit-transactions')
    const [account, banks, { debits, next }, total] = await Promise.all([
      findAccount(phone, caller.bank),
      allBanks(at),
      listByCustomer(filter, placeOf(request, position), unreadable),
      position === undefined ? sumByCustomer(filter, unreadable) : undefined,
    ])
    const bank = banks.get(caller.bank)
    if (!account || !bank) return invalid({ customer: ['account not found'] })
    const names = await providerNames(new Set(debits.map(({ facts }) => facts.provider)), at)
    const items = debits.map((debit) => bankItemView(debit, account, names))
    const transactions = fitting(items)
    const last = debits[transactions.length - 1]
    const isCut = last !== undefined && transactions.length < items.length
    return {
      data: bankListView({ account, bank, phone, transactions, total, filter: status }),
      page: {
        per_page: request.perPage,
        ...(total ? pageNumbersView(request, total) : {}),
        ...following(list, isCut ? positionOf(last) : next),
      },
    }
  },
)

export const handler = listDebitTransactions(real)
