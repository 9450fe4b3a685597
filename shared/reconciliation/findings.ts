import type { ProviderId } from '../domain/providers/provider.ts'
import { type CheckResult, type Invariant, invariants } from './invariants.ts'

/** Collects what the looks came to; however much is wrong, it stays small. */

/** What is wrong with what. */
export type Example = Of & { difference: string }

/** No provider: what is wrong is of all of them. */
type Of = { provider?: ProviderId; subject: string }

export type Finding = {
  number: Invariant
  title: string
  checked: number
  differences: number
  examples: Example[]
}

const EXAMPLES_MAX = 100

export type Findings = {
  add: (number: Invariant, of: Of, verdict: CheckResult) => void
  findings: () => Finding[]
}

export const newFindings = (): Findings => {
  const findings = new Map<Invariant, Finding>(
    Object.entries(invariants).map(([key, title]) => {
      const number = Number(key) as Invariant
      return [number, { number, title, checked: 0, differences: 0, examples: [] }]
    }),
  )
  return {
    add: (number, of, { checked, wrong }) => {
      const finding = findings.get(number)
      if (!finding) throw new Error(`Unknown invariant ${number}`)
      finding.checked += checked
      finding.differences += wrong.length
      const room = EXAMPLES_MAX - finding.examples.length
      finding.examples.push(...wrong.slice(0, room).map((difference) => ({ ...of, difference })))
    },
    findings: () => [...findings.values()],
  }
}
