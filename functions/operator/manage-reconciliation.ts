import { operatorHandler } from '../../shared/operator/handler.ts'
import { reconciliation } from '../../shared/operator/nouns/reconciliation.ts'
import { moneyView } from '../../shared/reconciliation/money.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { real } from '../../shared/runtime.ts'

export const handler = operatorHandler(reconciliation, {
  /** What differs is in the document; nothing is changed. */
  run: async ({ date }) => {
    const { checkedAt, invariants, money, differences, held } = await reconcile(date, real)
    return {
      date,
      checked_at: checkedAt.toISOString(),
      differences,
      held,
      completed_debits: moneyView(money),
      invariants,
    }
  },
})
