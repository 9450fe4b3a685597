import type { Observations, Violation } from '../engine/observations.ts'
import * as accountLookups from './account-lookups.ts'
import * as approvals from './approvals.ts'
import * as attempts from './attempts.ts'
import * as bankPosts from './bank-posts.ts'
import * as bankReports from './bank-reports.ts'
import * as banks from './banks.ts'
import * as batches from './batches.ts'
import * as books from './books.ts'
import * as debits from './debits.ts'
import * as decisions from './decisions.ts'
import * as deliveries from './deliveries.ts'
import * as erasures from './erasures.ts'
import * as events from './events.ts'
import * as figures from './figures.ts'
import * as ledger from './ledger.ts'
import * as limits from './limits.ts'
import * as metrics from './metrics.ts'
import * as net from './net.ts'
import { indexObservations } from './observation-index.ts'
import * as operations from './operations.ts'
import * as outcomes from './outcomes.ts'
import * as payouts from './payouts.ts'
import * as reads from './reads.ts'
import * as records from './records.ts'
import { type Check, rules } from './rules.ts'
import * as seals from './seals.ts'
import * as settings from './settings.ts'
import * as settlementReads from './settlement-reads.ts'
import * as sweeps from './sweeps.ts'
import * as tenancy from './tenancy.ts'

const parts = [
  ...[
    accountLookups,
    approvals,
    attempts,
    bankPosts,
    bankReports,
    banks,
    batches,
    books,
    debits,
    decisions,
    deliveries,
  ],
  ...[erasures, events, figures, ledger, limits, metrics, net, operations, outcomes, payouts],
  ...[reads, records, seals, settings, settlementReads, sweeps, tenancy],
]

const rows = parts.flatMap(({ checks }) => Object.entries(checks))
const checksOf = Map.groupBy(rows, ([number]) => number)

export const invariants = Object.entries(rules).map(
  ([number, rule]): readonly [number: number, rule: string, ...checks: Check[]] => [
    Number(number),
    rule,
    ...(checksOf.get(number) ?? []).flatMap(([, checks]) => checks),
  ],
)

/** They follow every change and reply; a restore undoes some. */
const COMPARES_CHANGES = new Set([
  1, 2, 3, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17, 19, 20, 21, 31, 33, 52, 53, 55, 56, 57, 58, 59, 62,
  63, 64, 66,
])

export const violationsOf = (observations: Observations): Violation[] => {
  const index = indexObservations(observations)
  const violations: Violation[] = []
  const { isRestored } = observations.setup
  for (const [invariant, , ...checks] of invariants) {
    if (isRestored && COMPARES_CHANGES.has(invariant)) continue
    const report = (about: string, message: string) => {
      violations.push({ invariant, about, message })
    }
    try {
      for (const check of checks) check(index, report)
    } catch (error) {
      // The check met a malformed item.
      report('the run', `cannot be checked: ${error}`)
    }
  }
  return violations
}
