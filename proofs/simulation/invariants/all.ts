import type { Observations, Violation } from '../engine/observations.ts'
import * as attempts from './attempts.ts'
import * as bankPosts from './bank-posts.ts'
import * as bankReports from './bank-reports.ts'
import * as banks from './banks.ts'
import * as batches from './batches.ts'
import * as books from './books.ts'
import * as debits from './debits.ts'
import * as decisions from './decisions.ts'
import * as deliveries from './deliveries.ts'
import * as events from './events.ts'
import * as limits from './limits.ts'
import * as metrics from './metrics.ts'
import * as net from './net.ts'
import { indexObservations } from './observation-index.ts'
import * as operations from './operations.ts'
import * as outcomes from './outcomes.ts'
import * as payouts from './payouts.ts'
import type { Check } from './rules.ts'
import * as settings from './settings.ts'
import * as sweeps from './sweeps.ts'
import * as tenancy from './tenancy.ts'

/**
 * The invariants of every run, under any faults. Numbers that are missing here are checked by the
 * reconciliation, whose differences 47 reports.
 */
const rules: Readonly<Record<number, string>> = {
  1: 'an accepted charge stays unchanged',
  2: 'a rejected charge leaves no trace',
  3: 'every accepted attempt of a charge returns its debit',
  4: 'a debit ends in time',
  5: 'a debit is in the list of its status',
  6: 'one of several outcomes wins, and the others are rejected',
  7: 'a repeated status changes nothing',
  8: 'timestamps and messages match the history',
  9: 'a reference has the day of its charge',
  11: 'a bank acts on a request once, and a submission has the facts of its debit',
  12: 'a transition adds one event to a history',
  13: 'an event has one id; each POST has its own id and a record',
  14: 'events have no gaps and show the state at their time',
  15: 'a subscribed event is delivered or abandoned',
  16: 'attempts have the required delays',
  17: 'the response decides whether a retry follows',
  18: 'a signature covers the exact bytes, with the right secret',
  19: 'events reach only their own provider',
  20: 'the daily total is the sum of the debits, within the limit',
  21: 'a charge within the limit is not rejected by it',
  23: 'only a completed debit gets a line',
  25: 'a bank pays a completed batch once',
  26: 'a sealed batch stays unchanged and is paid once',
  28: 'a debit is settled by the first night after completion',
  29: 'a fee is that of the bank, else of the schedule',
  30: 'amounts are published with two decimals',
  31: 'a rejected bank report has one exception with its body',
  32: "a provider or bank never sees another's objects",
  33: 'a transition names its actor, time and request',
  38: 'a bank is queried before a timeout fails its debit',
  39: 'a reversed debit is refunded once, by its own bank',
  41: "a payout reaches the provider's account, from its due day",
  42: 'a due batch is paid, after it has offset the batches below zero',
  43: 'a repeated POST to a bank follows a query; none is sent too late or unlike its status',
  45: 'a debit has the outcome that its bank gave',
  46: 'a guarded call takes effect after a second operator approved it',
  47: 'the reconciliation of a correct world finds nothing',
  48: 'request limits hold',
  49: 'a list has every object of its caller',
  50: 'an event id names one event, also after a restore',
  51: 'the nightly reconciliation ends, and counts each part once',
  52: 'a bank returns at most what it debited',
  53: "the banks' books of debits agree with the table",
  54: "balances and payouts agree with the banks' books",
  55: 'a granted request takes effect once, as requested',
  56: 'an exception that an operator closed stays closed',
  57: 'settings change only by operators, and in time',
  58: 'a change of a webhook loses no event that was subscribed at its time',
  59: 'the sweep repairs what faults have lost, and nothing else',
  60: 'no bank receives a request for nothing',
  61: 'a batch is paid after its reports exist',
  62: 'without faults, work is done in seconds',
  63: 'the metrics of alarms are measured at their events',
  64: 'the health of a bank follows its replies and is obeyed',
  65: 'a customer gets at most the prompts of the cap, and fewer only above it',
  66: 'a number that is unknown here has the account of its bank',
  67: 'an update keeps the members that another release wrote',
  68: 'a payout begins on a day on which its bank pays, which its batch names',
  69: 'a request to reverse has one decision, which its debit follows',
  70: 'a sealed day stays as it was sealed',
  71: 'an erased customer is in no item, and each figure stays',
  72: 'after a restore, the money of a provider waits for its release',
}

const parts = [
  ...[attempts, bankPosts, bankReports, banks, batches, books, debits, decisions, deliveries],
  ...[events, limits, metrics, net, operations, outcomes, payouts, settings, sweeps, tenancy],
]

const checksOf = Map.groupBy(
  parts.flatMap(({ checks }) => Object.entries(checks)),
  ([number]) => number,
)

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
