import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import type { ReconciliationResult } from './reconcile.ts'

/** Bounds the log record; the operator command lists more. */
const EXAMPLES_MAX = 10

/** Logs one record per broken invariant and a summary, and counts the differences. */
export const logReconciliation = ({
  date,
  invariants,
  differences,
  held,
}: ReconciliationResult): void => {
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
  log.info('day reconciled', { date, differences, held })
  measure({ ReconciliationDifferences: differences })
}
