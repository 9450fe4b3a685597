import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { real } from '../../shared/runtime.ts'
import { findProviderDebit } from '../../shared/store/debits/debits.ts'
import { deliveryWithAttempts } from '../../shared/views/delivery.ts'
import { readLog } from '../../shared/webhooks/delivery-log.ts'

/** Lists the deliveries of a debit's events with their attempts (docs/api.md#delivery-records). */
export const listDeliveriesOfDebit = endpoint('list-deliveries', async ({ path, caller }) => {
  const debit = await findProviderDebit(caller.provider.id, path.reference)
  if (!debit) return notFound('list-deliveries')
  return { data: (await readLog(debit.facts.reference)).map(deliveryWithAttempts) }
})

export const handler = listDeliveriesOfDebit(real)
