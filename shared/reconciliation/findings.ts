import type { Example, Finding, Subject } from '../domain/operator/finding.ts'

/** The checks of a reconciliation (docs/api.md#reconciliation). A number never changes its meaning. */
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
  40: 'The ledger agrees with debits, batches, payouts, refunds and funding',
  50: 'A line repeats the references, the bank and the time of its debit',
} as const

export type Invariant = keyof typeof invariants

/** How many items were checked, and their differences. */
export type CheckResult = { checked: number; wrong: readonly string[] }

export const notApplicable: CheckResult = { checked: 0, wrong: [] }

/** @param claims differences, each with whether it is present */
export const checkResult = (claims: Readonly<Record<string, boolean>>, checked = 1) => ({
  checked,
  wrong: Object.entries(claims).flatMap(([claim, isPresent]) => (isPresent ? [claim] : [])),
})

/** Runs a check. An exception is a difference, so that an unreadable item hides no other. */
export const guarded = (check: () => CheckResult): CheckResult => {
  try {
    return check()
  } catch (error) {
    return { checked: 1, wrong: [`cannot be checked: ${(error as Error).message}`] }
  }
}

export const combine = (results: readonly CheckResult[]): CheckResult => ({
  checked: results.reduce((sum, { checked }) => sum + checked, 0),
  wrong: results.flatMap(({ wrong }) => wrong),
})

type InvariantFinding = Finding & { number: Invariant }

export type PartFinding = Omit<InvariantFinding, 'title'>

/** Bound the result of a run, and the item of a part (400 KB). */
const EXAMPLES_MAX = 100
const CHARACTERS_MAX = 200_000

export type Findings = ReturnType<typeof newFindings>

/** Collects check results by invariant, with a limited number of examples. */
export const newFindings = (charactersMax = CHARACTERS_MAX) => {
  let characters = 0
  const findings = new Map<Invariant, InvariantFinding>(
    Object.entries(invariants).map(([key, title]) => {
      const number = Number(key) as Invariant
      return [number, { number, title, checked: 0, differences: 0, examples: [] }]
    }),
  )
  const keep = (finding: InvariantFinding, example: Example): void => {
    if (finding.examples.length === EXAMPLES_MAX) return
    characters += JSON.stringify(example).length
    if (characters <= charactersMax) finding.examples.push(example)
  }
  const findingOf = (number: Invariant): InvariantFinding => {
    const finding = findings.get(number)
    if (!finding) throw new Error(`There is no invariant ${number}`)
    return finding
  }
  const add = (number: Invariant, of: Subject, { checked, wrong }: CheckResult): void => {
    const finding = findingOf(number)
    finding.checked += checked
    finding.differences += wrong.length
    for (const difference of wrong) keep(finding, { ...of, difference })
  }
  return {
    add,
    check: (number: Invariant, of: Subject, check: () => CheckResult): void =>
      add(number, of, guarded(check)),
    /** Adds the findings of a part. */
    merge: (list: readonly PartFinding[]): void => {
      for (const { number, checked, differences, examples } of list) {
        const finding = findingOf(number)
        finding.checked += checked
        finding.differences += differences
        for (const example of examples) keep(finding, example)
      }
    },
    list: () => [...findings.values()],
  }
}
