import type { ProviderId } from '../domain/providers/provider.ts'
import { type CheckResult, guarded, type Invariant, invariants } from './invariants.ts'

/** Without a provider, the subject concerns all of them. */
export type Subject = { provider?: ProviderId; subject: string }

export type Example = Subject & { difference: string }

export type Finding = {
  number: Invariant
  title: string
  checked: number
  differences: number
  examples: Example[]
}

/** Bounds the size of the result. */
const EXAMPLES_MAX = 100

export type Findings = {
  add: (number: Invariant, of: Subject, result: CheckResult) => void
  check: (number: Invariant, of: Subject, check: () => CheckResult) => void
  list: () => Finding[]
}

/** Collects check results by invariant, with a limited number of examples. */
export const newFindings = (): Findings => {
  const findings = new Map<Invariant, Finding>(
    Object.entries(invariants).map(([key, title]) => {
      const number = Number(key) as Invariant
      return [number, { number, title, checked: 0, differences: 0, examples: [] }]
    }),
  )
  const add: Findings['add'] = (number, of, { checked, wrong }) => {
    const finding = findings.get(number)
    if (!finding) throw new Error(`There is no invariant ${number}`)
    finding.checked += checked
    finding.differences += wrong.length
    const remaining = EXAMPLES_MAX - finding.examples.length
    finding.examples.push(...wrong.slice(0, remaining).map((difference) => ({ ...of, difference })))
  }
  return {
    add,
    check: (number, of, check) => add(number, of, guarded(check)),
    list: () => [...findings.values()],
  }
}
