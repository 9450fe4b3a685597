import { deliveryView } from '../../shared/api/delivery-view.ts'
import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { askRedelivery } from '../../shared/deliveries/redeliver.ts'
import { readDeliveryId } from '../../shared/domain/event.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findPartnerDebit } from '../../shared/store/debits.ts'

/** One more attempt at an event, whatever became of those before. */
export const redeliverEvent = (runtime: Runtime) =>
  endpoint('redeliver-event', runtime, async ({ path, caller }) => {
    const wanted = readDeliveryId(environment.referencePrefix, path.id)
    const debit = wanted && (await findPartnerDebit(caller.partner.id, wanted.reference))
    if (!wanted || !debit?.history[wanted.n]) return notFound('redeliver-event')
    const asked = await askRedelivery(debit, wanted.n, runtime)
    return asked instanceof Refusal ? asked : { data: deliveryView(asked) }
  })

export const handler = redeliverEvent(real)
