import { dayOf, startOf } from '../../shared/domain/time.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { buildBatchMessage, payBatchMessage } from '../../shared/queues/outbox.ts'
import { sendAllOrThrow } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { listProviders } from '../../shared/store/providers/providers.ts'
import { findBatches, listPayable } from '../../shared/store/settlement/batches.ts'

/**
 * Runs at 00:00, 00:20 and 01:00 UTC. Sends one message per provider to settle the debits of earlier
 * days, and one per batch that is due. A repeated run has no effect.
 */
export const openSettlement = (runtime: Pick<Runtime, 'now'>) =>
  consumer('settlement-runs', async () => {
    const date = dayOf(runtime.now())
    const [providers, payable] = await Promise.all([listProviders(), listPayable(startOf(date))])
    const batches = await findBatches(payable)
    await sendAllOrThrow([
      ...providers.map((provider) => buildBatchMessage(provider, date)),
      ...batches.map(({ id, provider }) => payBatchMessage(id, provider)),
    ])
  })

export const handler = openSettlement(real)
