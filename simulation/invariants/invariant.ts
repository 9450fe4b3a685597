import type { Books } from './debit-histories.ts'

/** @param about the reference, uuid or key that it is about */
export type Complain = (about: string, says: string) => void

export type Check = (books: Books, complain: Complain) => void

export type Invariant = {
  /** docs/simulation.md */
  number: number
  says: string
  check: Check
}

/** Several that are one. */
export const together =
  (...checks: readonly Check[]): Check =>
  (books, complain) => {
    for (const check of checks) check(books, complain)
  }
