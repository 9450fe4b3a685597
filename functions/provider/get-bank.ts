import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { real } from '../../shared/runtime.ts'
import { allBanks } from '../../shared/store/banks/banks.ts'
import { bankHealth } from '../../shared/store/banks/health.ts'
import { bankDetailView } from '../../shared/views/bank.ts'

/** Returns a live bank (docs/api.md#banks). */
export const getBank = endpoint('get-bank', async ({ at, path }) => {
  const { identifier = '' } = path
  const [banks, health] = await Promise.all([allBanks(at), bankHealth(identifier, at)])
  const bank = banks.get(identifier)
  return bank?.status === 'live' ? { data: bankDetailView(bank, health) } : notFound('get-bank')
})

export const handler = getBank(real)
