import * as v from 'valibot'
import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { Reference } from '../../shared/domain/ids.ts'
import { real } from '../../shared/runtime.ts'
import { findProviderDebit } from '../../shared/store/debits/debits.ts'
import { deliveryWithAttempts } from '../../shared/views/delivery.ts'
import { readLog } from '../../shared/webhooks/delivery-log.ts'

/** Lists the deliveries of a debit's events with their attempts (docs/api.md#delivery-records). */
export const listDeliveriesOfDebit = endpoint('list-deliveries', async ({ path, caller }) => {
  const { success, output } = v.safeParse(Reference, path.reference)
  const debit = success && (await findProviderDebit(caller.provider.id, output))
  if (!debit) return notFound('list-deliveries')
  return { data: (await readLog(debit.facts.reference)).map(deliveryWithAttempts) }
})

export const handler = listDeliveriesOfDebit(real)
