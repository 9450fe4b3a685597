import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { allBanks } from '../../shared/store/banks/banks.ts'
import { bankDetailView } from '../../shared/views/bank.ts'

export const getBank = (runtime: Runtime) =>
  endpoint('get-bank', runtime, async ({ at, path }) => {
    const bank = (await allBanks(at)).get(path.identifier ?? '')
    return bank?.status === 'live' ? { data: bankDetailView(bank) } : notFound('get-bank')
  })

export const handler = getBank(real)
