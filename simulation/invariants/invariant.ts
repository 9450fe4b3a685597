import type { ObservationIndex } from './observation-index.ts'

/** @param about the reference, uuid or key that it is about */
export type Reporter = (about: string, rule: string) => void

export type Check = (index: ObservationIndex, report: Reporter) => void

export type Invariant = {
  /** docs/simulation.md */
  number: number
  rule: string
  check: Check
}

/** Several that are one. */
export const allOf =
  (...checks: readonly Check[]): Check =>
  (index, report) => {
    for (const check of checks) check(index, report)
  }
