import { endpoint } from '../../shared/api/endpoint.ts'
import { liveBanks } from '../../shared/domain/banks/bank.ts'
import { pageOf, pageRequest } from '../../shared/domain/page.ts'
import { real } from '../../shared/runtime.ts'
import { allBanks } from '../../shared/store/banks/banks.ts'
import { bankView } from '../../shared/views/bank.ts'
import { countView, pageNumbersView } from '../../shared/views/page.ts'

/** Lists the live banks by name; in pages if `page` or `per_page` is present (docs/api.md#banks). */
export const listBanks = endpoint('list-banks', async ({ at, query }) => {
  const banks = liveBanks((await allBanks(at)).values())
  if (query.page === undefined && query.per_page === undefined) {
    return { data: banks.map(bankView) }
  }
  const request = pageRequest(query)
  const total = { count: banks.length, isAtLeast: false }
  return {
    data: pageOf(banks, request).map(bankView),
    page: { ...pageNumbersView(request, total), per_page: request.perPage, ...countView(total) },
  }
})

export const handler = listBanks(real)
