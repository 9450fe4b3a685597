/** What must hold whatever fails, as far as the table alone can tell. The numbers are for ever. */
export const invariants = {
  1: 'An accepted charge exists unchanged',
  4: 'A debit ends in time',
  5: 'A history follows the lifecycle',
  6: 'A debit has one outcome',
  9: 'References and uuids are well formed and name one debit',
  10: "A provider's own reference names one debit",
  12: 'Each change of a debit is one event',
  13: 'A delivery record belongs to one event and has distinct attempts',
  15: 'Each due event ends as delivered or abandoned',
  20: "A day's total is the sum of its debits and within the limit",
  22: 'A completed debit has one line, in one batch of its provider',
  23: 'Only completed debits have a line',
  24: 'A batch is the sum of its lines',
  25: 'A completed debit is settled or waiting for settlement',
  26: 'A sealed batch does not change and is paid once',
  27: 'A reversal after settlement is adjusted once',
  29: 'A line has the fee of its bank, else of the schedule of its batch',
  31: 'A rejected bank report is recorded with its debit',
  33: 'Each change has an actor, a time and a request',
  39: 'A reversed debit has one refund, and a refund ends in time',
  40: 'The ledger agrees with batches, payouts, refunds and funding',
} as const

export type Invariant = keyof typeof invariants

/** What one look came to: how many things were looked at, and what was wrong with them. */
export type CheckResult = { checked: number; wrong: readonly string[] }

/** Nothing here for this invariant to say anything about. */
export const notApplicable: CheckResult = { checked: 0, wrong: [] }

/** @param claims what is wrong, each with whether it is */
export const checkResult = (
  claims: Readonly<Record<string, boolean>>,
  checked = 1,
): CheckResult => ({
  checked,
  wrong: Object.entries(claims).flatMap(([what, is]) => (is ? [what] : [])),
})

/** Makes a check; an item that no check can read is a difference, and hides no other item. */
export const judged = (check: () => CheckResult): CheckResult => {
  try {
    return check()
  } catch (error) {
    return { checked: 1, wrong: [`cannot be checked: ${(error as Error).message}`] }
  }
}

export const combine = (verdicts: readonly CheckResult[]): CheckResult => ({
  checked: verdicts.reduce((sum, { checked }) => sum + checked, 0),
  wrong: verdicts.flatMap(({ wrong }) => wrong),
})
