import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { real } from '../../shared/runtime.ts'
import { allBanks } from '../../shared/store/banks/banks.ts'
import { bankDetailView } from '../../shared/views/bank.ts'

/** Returns a live bank (docs/api.md#banks). */
export const getBank = endpoint('get-bank', async ({ at, path }) => {
  const bank = (await allBanks(at)).get(path.identifier ?? '')
  return bank?.status === 'live' ? { data: bankDetailView(bank) } : notFound('get-bank')
})

export const handler = getBank(real)
