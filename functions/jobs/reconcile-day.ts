import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import { log } from '../../shared/log.ts'
import { measure } from '../../shared/metrics.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { listUnfinished } from '../../shared/settlement/unfinished.ts'

/**
 * Runs at 02:00 UTC. Logs providers that the night's runs have not fully settled, then reconciles the
 * day before (docs/api.md#reconciliation): its debits are final by then.
 */
export const reconcileDay = (runtime: Pick<Runtime, 'now'>) =>
  consumer('reconciliations', async () => {
    const today = dayOf(runtime.now())
    const unfinished = await listUnfinished(today)
    const figures = { SettlementUnfinished: unfinished.length }
    if (unfinished.length === 0) measure(figures)
    else log.error('settlement unfinished', { date: today, unfinished }, figures)
    const yesterday = dayAfter(today, -1)
    logReconciliation(await reconcile(yesterday, runtime))
  })

/** Bounds the log record; the operator command lists more. */
const EXAMPLES_MAX = 10

/** Logs one record per broken invariant and a summary, and counts the differences. */
const logReconciliation = (result: Awaited<ReturnType<typeof reconcile>>): void => {
  const { date, invariants, differences, held } = result
  for (const { number, title, checked, differences, examples } of invariants) {
    if (differences === 0) continue
    log.error('reconciliation difference', {
      date,
      invariant: number,
      title,
      checked,
      differences,
      examples: examples.slice(0, EXAMPLES_MAX),
    })
  }
  log.info(
    'day reconciled',
    { date, differences, held },
    { ReconciliationDifferences: differences },
  )
}

export const handler = reconcileDay(real)
