import type { ObservationIndex } from './observation-index.ts'

/** @param about a reference, uuid or key */
export type Reporter = (about: string, rule: string) => void

export type Check = (index: ObservationIndex, report: Reporter) => void

export type Invariant = {
  number: number
  rule: string
  check: Check
}

/** Combines several checks. */
export const allOf =
  (...checks: readonly Check[]): Check =>
  (index, report) => {
    for (const check of checks) check(index, report)
  }
