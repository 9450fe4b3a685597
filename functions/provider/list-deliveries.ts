import * as v from 'valibot'
import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { Reference } from '../../shared/domain/ids.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findProviderDebit } from '../../shared/store/debits/debits.ts'
import { deliveryWithAttempts } from '../../shared/views/delivery.ts'
import { readLog } from '../../shared/webhooks/delivery-log.ts'

/** What became of each event of a debit, attempt by attempt. */
export const listDeliveriesOfDebit = (runtime: Runtime) =>
  endpoint('list-deliveries', runtime, async ({ path, caller }) => {
    const { success, output } = v.safeParse(Reference, path.reference)
    const debit = success && (await findProviderDebit(caller.provider.id, output))
    if (!debit) return notFound('list-deliveries')
    return { data: (await readLog(debit.facts.reference)).map(deliveryWithAttempts) }
  })

export const handler = listDeliveriesOfDebit(real)
