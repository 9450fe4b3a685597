import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import type { ReconciliationResult } from './reconcile.ts'

/** A line has to stay a line; the operator command lists more. */
const EXAMPLES_MAX = 10

/** Tells what differs, a line for each invariant, and how much, also when that is nothing. */
export const logReconciliation = ({
  date,
  invariants,
  differences,
  held,
}: ReconciliationResult): void => {
  for (const { number, title, checked, examples, ...found } of invariants) {
    if (found.differences === 0) continue
    log.error('reconciliation difference', {
      date,
      invariant: number,
      title,
      checked,
      differences: found.differences,
      examples: examples.slice(0, EXAMPLES_MAX),
    })
  }
  log.info('day reconciled', { date, differences, held })
  measure({ ReconciliationDifferences: differences })
}
