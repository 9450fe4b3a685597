import * as v from 'valibot'
import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { liveBanks } from '../../shared/domain/banks/bank.ts'
import { PhoneNumber } from '../../shared/domain/phone.ts'
import { real } from '../../shared/runtime.ts'
import { allBanks, listAccounts } from '../../shared/store/banks/banks.ts'
import { countUnknownNumber } from '../../shared/store/providers/daily-use.ts'
import { bankView } from '../../shared/views/bank.ts'

/** Lists the live banks at which a phone number has an active account (docs/api.md#lookup). */
export const lookupCustomerBanks = endpoint(
  'lookup-customer-banks',
  async ({ at, caller, path }) => {
    const phone = v.safeParse(PhoneNumber, path.phone_number)
    if (!phone.success) return notFound('lookup-customer-banks')
    const [banks, accounts] = await Promise.all([allBanks(at), listAccounts(phone.output)])
    const active = accounts.filter(({ account }) => account.status === 'active')
    const linked = liveBanks(active.flatMap(({ bank }) => banks.get(bank) ?? []))
    const first = active.find(({ bank }) => linked.some(({ identifier }) => identifier === bank))
    if (!first) {
      await countUnknownNumber(caller.provider.id, at)
      return notFound('lookup-customer-banks')
    }
    return {
      topLevel: { phone_number: phone.output, customer: first.account.customerName },
      data: linked.map(bankView),
    }
  },
)

export const handler = lookupCustomerBanks(real)
