import { endpoint } from '../../shared/api/endpoint.ts'
import { liveBanks } from '../../shared/domain/banks/bank.ts'
import { pageOf, pageRequest } from '../../shared/domain/page.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { allBanks } from '../../shared/store/banks/banks.ts'
import { bankView } from '../../shared/views/bank.ts'

/** Every live bank by name; in pages for who asks for them. */
export const listBanks = (runtime: Runtime) =>
  endpoint('list-banks', runtime, async ({ at, query }) => {
    const banks = liveBanks((await allBanks(at)).values())
    if (query.page === undefined && query.per_page === undefined) {
      return { data: banks.map(bankView) }
    }
    const wanted = pageRequest(query)
    return {
      data: pageOf(banks, wanted).map(bankView),
      page: {
        current_page: wanted.page,
        per_page: wanted.perPage,
        total_pages: Math.ceil(banks.length / wanted.perPage),
        total_count: banks.length,
      },
    }
  })

export const handler = listBanks(real)
