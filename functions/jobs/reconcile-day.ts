import { dayAfter, dayOf } from '../../shared/domain/settlement.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { tellReconciled } from '../../shared/reconciliation/tell.ts'
import { type Runtime, real } from '../../shared/runtime.ts'

/**
 * At 02:00 UTC: holds the day before against what must hold. Its debits have come to their end by
 * then, and the runs of the night have settled what was completed.
 */
export const reconcileDay = (runtime: Pick<Runtime, 'now'>) =>
  consumer('reconciliations', async () => {
    const yesterday = dayAfter(dayOf(runtime.now()), -1)
    tellReconciled(await reconcile(yesterday, runtime))
  })

export const handler = reconcileDay(real)
