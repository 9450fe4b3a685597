import { dayOf, startOf } from '../../shared/domain/time.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { buildBatchMessage, payBatchMessage } from '../../shared/queues/outbox.ts'
import { sendAllOrThrow } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { listProviders } from '../../shared/store/providers/providers.ts'
import { findBatches, listPayable } from '../../shared/store/settlement/batches.ts'

/**
 * At 00:00 UTC, and once more at 00:20 and 01:00: one message for each provider, whose debits of
 * earlier days are to be settled, and one for each batch that is to be paid. A run that comes twice
 * finds nothing left to do.
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
