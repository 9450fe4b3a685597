import type { Observations, Violation } from '../engine/observations.ts'
import * as accounts from './accounts.ts'
import { guardedCallsAreApproved } from './approvals.ts'
import { attemptsAreSpaced, responseDecidesRetry } from './attempts.ts'
import * as bankHealth from './bank-health.ts'
import * as bankPosts from './bank-posts.ts'
import * as bankReports from './bank-reports.ts'
import * as batches from './batches.ts'
import * as books from './books.ts'
import * as charges from './charges.ts'
import {
  callsAboutManyTakeEffectOnce,
  closedExceptionsStayClosed,
  requestsTakeEffectOnce,
} from './decisions.ts'
import {
  abandonedEventsAreRecovered,
  requestedEventsAreRetried,
  subscribedEventsHaveDeliveries,
  wantedEventsEnd,
} from './deliveries.ts'
import * as events from './events.ts'
import * as histories from './histories.ts'
import * as limits from './limits.ts'
import { eventsAreMeasured } from './metrics.ts'
import { repairsAreExplained, workIsPrompt } from './net.ts'
import { type Check, indexObservations } from './observation-index.ts'
import * as outcomes from './outcomes.ts'
import * as payoutDays from './payout-days.ts'
import * as payouts from './payouts.ts'
import * as posts from './posts.ts'
import * as prompts from './prompts.ts'
import {
  nightlyReconciliationsEnd,
  reconciliationsFindNothing,
  statementsAreWhole,
} from './reconciliations.ts'
import { reversalsAreRefundedOnce } from './refunds.ts'
import { unknownMembersStay } from './releases.ts'
import * as requests from './requests.ts'
import { sealedDaysVerify } from './sealed-days.ts'
import { reportsPrecedePayouts, sentAmountsArePositive } from './sent-money.ts'
import * as settings from './settings.ts'
import * as tenancy from './tenancy.ts'

type Invariant = readonly [number: number, rule: string, ...checks: Check[]]

/**
 * The invariants of every run, under any faults. Numbers that are missing here are checked by the
 * reconciliation, whose differences 47 reports.
 */
export const invariants: readonly Invariant[] = [
  [1, 'an accepted charge stays unchanged', charges.factsStayUnchanged, charges.readsMatchCharge],
  [
    2,
    'a rejected charge leaves no trace',
    charges.refusedChargeLeavesNoTrace,
    charges.namesHaveDebits,
  ],
  [3, 'every accepted attempt of a charge returns its debit', charges.replayMatchesCharge],
  [4, 'a debit ends in time', outcomes.debitsEndInTime],
  [5, 'a debit is in the list of its status', histories.debitsAreListed],
  [
    6,
    'one of several outcomes wins, and the others are rejected',
    histories.writesIncreaseVersion,
    bankReports.bankLearnsOutcome,
  ],
  [7, 'a repeated status changes nothing', bankReports.repeatedStatusChangesNothing],
  [
    8,
    'timestamps and messages match the history',
    outcomes.failuresHaveMessages,
    outcomes.readsShowTimestamps,
  ],
  [9, 'a reference has the day of its charge', charges.referencesHaveTheirDay],
  [
    11,
    'a bank acts on a request once, and a submission has the facts of its debit',
    bankPosts.keysHaveOneBody,
    bankPosts.submissionsMatchDebits,
  ],
  [12, 'a transition adds one event to a history', histories.statusAndEntryMove],
  [
    13,
    'an event has one id; each POST has its own id and a record',
    events.eventIdsAreStable,
    events.attemptsAreRecorded,
  ],
  [
    14,
    'events have no gaps and show the state at their time',
    events.eventsHaveNoGaps,
    events.payloadsShowTheirState,
  ],
  [
    15,
    'a subscribed event is delivered or abandoned',
    wantedEventsEnd,
    abandonedEventsAreRecovered,
    requestedEventsAreRetried,
  ],
  [16, 'attempts have the required delays', attemptsAreSpaced],
  [17, 'the response decides whether a retry follows', responseDecidesRetry],
  [18, 'a signature covers the exact bytes, with the right secret', posts.postsAreSigned],
  [19, 'events reach only their own provider', posts.postsReachOwner],
  [20, 'the daily total is the sum of the debits, within the limit', limits.dayTotalsMatchDebits],
  [21, 'a charge within the limit is not rejected by it', limits.refusesOnlyAboveLimit],
  [23, 'only a completed debit gets a line', batches.linesAreOfCompletedDebits],
  [25, 'a bank pays a completed batch once', books.payoutsMatchBooks],
  [
    26,
    'a sealed batch stays unchanged and is paid once',
    batches.contentsStay,
    batches.completedBatchesAreFinal,
    batches.payoutsAgree,
  ],
  [28, 'a debit is settled by the first night after completion', batches.debitsAreSettledInTime],
  [
    29,
    'a fee is that of the bank, else of the schedule',
    payouts.schedulesAreCurrent,
    payouts.feesAreOfBank,
  ],
  [30, 'amounts are published with two decimals', posts.publishedAmountsAreExact],
  [
    31,
    'a rejected bank report has one exception with its body',
    bankReports.exceptionsAreComplete,
    bankReports.onlyInvalidReportsAreRejected,
  ],
  [
    32,
    "a provider or bank never sees another's objects",
    tenancy.repliesNameOwnObjects,
    tenancy.isReadByItsOwn,
    tenancy.isChangedByItsOwn,
  ],
  [33, 'a transition names its actor, time and request', histories.movesNameTheirCause],
  [38, 'a bank is queried before a timeout fails its debit', outcomes.bankIsQueriedFirst],
  [39, 'a reversed debit is refunded once, by its own bank', reversalsAreRefundedOnce],
  [
    41,
    "a payout reaches the provider's account, from its due day",
    payouts.payoutsReachTheirAccount,
    payouts.changedAccountsHoldPayouts,
  ],
  [
    42,
    'a due batch is paid, after it has offset the batches below zero',
    payouts.payoutsOffset,
    payouts.dueBatchesArePaid,
  ],
  [
    43,
    'a repeated POST to a bank follows a query; none is sent too late or unlike its status',
    bankPosts.repeatsFollowQuery,
    bankPosts.submissionsAreInTime,
    bankPosts.statusesFollowSubmissions,
  ],
  [
    45,
    'a debit has the outcome that its bank gave',
    outcomes.outcomesComeFromBank,
    outcomes.sandboxBanksReject,
  ],
  [46, 'a guarded call takes effect after a second operator approved it', guardedCallsAreApproved],
  [
    47,
    'the reconciliation of a correct world finds nothing',
    reconciliationsFindNothing,
    statementsAreWhole,
  ],
  [48, 'request limits hold', limits.requestLimitsHold],
  [49, 'a list has every object of its caller', tenancy.listsAreComplete],
  [50, 'an event id names one event, also after a restore', events.eventIdsNameOneEvent],
  [51, 'the nightly reconciliation ends, and counts each part once', nightlyReconciliationsEnd],
  [52, 'a bank returns at most what it debited', books.refundsAreCovered],
  [53, "the banks' books of debits agree with the table", books.booksMatchDebits],
  [
    54,
    "balances and payouts agree with the banks' books",
    books.balancesMatchDebits,
    books.cashMatchesBooks,
  ],
  [
    55,
    'a granted request takes effect once, as requested',
    requestsTakeEffectOnce,
    callsAboutManyTakeEffectOnce,
  ],
  [56, 'an exception that an operator closed stays closed', closedExceptionsStayClosed],
  [57, 'settings change only by operators, and in time', ...Object.values(settings)],
  [
    58,
    'a change of a webhook loses no event that was subscribed at its time',
    subscribedEventsHaveDeliveries,
  ],
  [59, 'the sweep repairs only what faults have lost', repairsAreExplained],
  [60, 'no bank receives a request for nothing', sentAmountsArePositive],
  [61, 'a batch is paid after its reports exist', reportsPrecedePayouts],
  [62, 'without faults, work is done in seconds', workIsPrompt],
  [63, 'the metrics of alarms are measured at their events', eventsAreMeasured],
  [64, 'the health of a bank follows its replies and is obeyed', ...Object.values(bankHealth)],
  [
    65,
    'a customer gets at most the prompts of the cap, and fewer only above it',
    prompts.promptsAreCapped,
    prompts.refusalsAreAboveCap,
  ],
  [66, 'a number that is unknown here has the account of its bank', ...Object.values(accounts)],
  [67, 'an update keeps the members that another release wrote', unknownMembersStay],
  [
    68,
    'a payout begins on a day on which its bank pays, which its batch names',
    payoutDays.batchesNameTheirDay,
    payoutDays.payoutsBeginOnTheirDays,
  ],
  [
    69,
    'a request to reverse has one decision, which its debit follows',
    ...Object.values(requests),
  ],
  [70, 'a sealed day stays as it was sealed', sealedDaysVerify],
]

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
