import type { Observations, Violation } from '../engine/observations.ts'
import { amountsAreExact } from './amounts.ts'
import { guardedCallsAreApproved } from './approvals.ts'
import { attemptsAreSpaced, responseDecidesRetry } from './attempts.ts'
import { outcomesComeFromBank } from './bank-outcomes.ts'
import {
  bankLearnsOutcome,
  rejectedReportsAreRecorded,
  repeatedStatusChangesNothing,
} from './bank-reports.ts'
import { batchesMatchLines, moneyIsConserved } from './batches.ts'
import { acceptedChargeKept, refusedChargeLeavesNoTrace, replayMatchesCharge } from './charges.ts'
import { dayTotalsMatchDebits, refusesOnlyAboveLimit } from './daily-limits.ts'
import { wantedEventsEnd } from './deliveries.ts'
import { eventIdsAreStable, eventIdsNameOneEvent, eventsMatchHistory } from './events.ts'
import { feesAreRight } from './fees.ts'
import {
  historyFollowsLifecycle,
  movesHaveOneEvent,
  movesNameTheirCause,
  oneOutcomeWins,
} from './histories.ts'
import { allOf, type Invariant } from './invariant.ts'
import { listsAreComplete } from './lists.ts'
import { indexObservations } from './observation-index.ts'
import { bankIsQueriedFirst, debitsEndInTime, timesMatchHistory } from './outcomes.ts'
import { batchesEnd, payoutsAreRight } from './payouts.ts'
import { postsAreSigned, postsReachOwner } from './posts.ts'
import { postsAreDue } from './queries.ts'
import { reconciliationsFindNothing } from './reconciliations.ts'
import { abandonedEventsAreRecovered } from './recoveries.ts'
import { reversalsAreRefundedOnce } from './refunds.ts'
import { requestLimitsHold } from './request-limits.ts'
import { sealedBatchesStay } from './sealed-batches.ts'
import {
  debitsAreSettledInTime,
  debitsAreSettledOnce,
  linesAreOfCompletedDebits,
  reversalsAreAdjustedOnce,
} from './settled-debits.ts'
import { bankActsOnce } from './submissions.ts'
import { objectsAreIsolated } from './tenancy.ts'
import { idsAreUnique, referenceIsClaimedOnce } from './uniqueness.ts'

/** The invariants of every run, under any faults. */
export const invariants: readonly Invariant[] = [
  { number: 1, rule: 'an accepted charge stays unchanged', check: acceptedChargeKept },
  { number: 2, rule: 'a rejected charge leaves no trace', check: refusedChargeLeavesNoTrace },
  {
    number: 3,
    rule: 'a charge creates at most one debit, and a repeat returns it',
    check: replayMatchesCharge,
  },
  { number: 4, rule: 'a debit ends in time', check: debitsEndInTime },
  { number: 5, rule: 'a history follows the lifecycle', check: historyFollowsLifecycle },
  {
    number: 6,
    rule: 'one of several outcomes wins, and the others are rejected',
    check: allOf(oneOutcomeWins, bankLearnsOutcome),
  },
  { number: 7, rule: 'a repeated status changes nothing', check: repeatedStatusChangesNothing },
  { number: 8, rule: 'timestamps and messages match the history', check: timesMatchHistory },
  { number: 9, rule: 'references and uuids are unique and valid', check: idsAreUnique },
  {
    number: 10,
    rule: "a provider's reference belongs to one debit",
    check: referenceIsClaimedOnce,
  },
  { number: 11, rule: 'a bank acts on a debit once', check: bankActsOnce },
  {
    number: 12,
    rule: 'a transition has one event, which names the previous status',
    check: movesHaveOneEvent,
  },
  {
    number: 13,
    rule: 'an event has one id; each POST has its own id and a record',
    check: eventIdsAreStable,
  },
  {
    number: 14,
    rule: 'events have no gaps and show the state at their time',
    check: eventsMatchHistory,
  },
  {
    number: 15,
    rule: 'a subscribed event is delivered or abandoned',
    check: allOf(wantedEventsEnd, abandonedEventsAreRecovered),
  },
  { number: 16, rule: 'attempts have the required delays', check: attemptsAreSpaced },
  {
    number: 17,
    rule: 'the response decides whether a retry follows',
    check: responseDecidesRetry,
  },
  {
    number: 18,
    rule: 'a signature covers the exact bytes, with the right secret',
    check: postsAreSigned,
  },
  { number: 19, rule: 'events reach only their own provider', check: postsReachOwner },
  {
    number: 20,
    rule: 'the daily total is always the sum of the debits, within the limit',
    check: dayTotalsMatchDebits,
  },
  {
    number: 21,
    rule: 'a charge within the limit is not rejected by it',
    check: refusesOnlyAboveLimit,
  },
  { number: 22, rule: 'a completed debit is settled once', check: debitsAreSettledOnce },
  { number: 23, rule: 'only a completed debit gets a line', check: linesAreOfCompletedDebits },
  { number: 24, rule: 'a batch is the sum of its lines', check: batchesMatchLines },
  { number: 25, rule: 'money is conserved', check: moneyIsConserved },
  { number: 26, rule: 'a sealed batch stays unchanged and is paid once', check: sealedBatchesStay },
  {
    number: 27,
    rule: 'a settled reversal is adjusted once, in a later batch',
    check: reversalsAreAdjustedOnce,
  },
  {
    number: 28,
    rule: 'a debit is settled by the first night after its completion',
    check: debitsAreSettledInTime,
  },
  { number: 29, rule: 'a fee is rounded once, half to even', check: feesAreRight },
  {
    number: 30,
    rule: 'amounts are whole pesewas, published with two decimals',
    check: amountsAreExact,
  },
  {
    number: 31,
    rule: 'a rejected bank report has one exception with its body',
    check: rejectedReportsAreRecorded,
  },
  {
    number: 32,
    rule: "a provider or bank never sees another's objects",
    check: objectsAreIsolated,
  },
  {
    number: 33,
    rule: 'a transition names its actor, time and request',
    check: movesNameTheirCause,
  },
  {
    number: 38,
    rule: 'a bank is queried before a timeout fails its debit',
    check: bankIsQueriedFirst,
  },
  {
    number: 39,
    rule: 'a reversed debit is refunded once, by its own bank',
    check: reversalsAreRefundedOnce,
  },
  {
    number: 41,
    rule: "a payout has its exact amount and reaches the provider's account, from its due day",
    check: payoutsAreRight,
  },
  {
    number: 42,
    rule: 'a due batch is paid, after it has offset the batches below zero',
    check: batchesEnd,
  },
  {
    number: 43,
    rule: 'a repeated POST to a bank follows a query; none is sent too late',
    check: postsAreDue,
  },
  { number: 45, rule: 'a debit has the outcome that its bank gave', check: outcomesComeFromBank },
  {
    number: 46,
    rule: 'a guarded call takes effect after a second operator approved it',
    check: guardedCallsAreApproved,
  },
  {
    number: 47,
    rule: 'the nightly reconciliation of a correct world finds nothing',
    check: reconciliationsFindNothing,
  },
  { number: 48, rule: 'request limits hold', check: requestLimitsHold },
  { number: 49, rule: 'a list has every object of its caller', check: listsAreComplete },
  {
    number: 50,
    rule: 'an event id names one event, also after a restore',
    check: eventIdsNameOneEvent,
  },
]

/** They follow every change and reply; a restore undoes some. */
const COMPARES_CHANGES = new Set([
  1, 2, 3, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 31, 33,
])

export const violationsOf = (observations: Observations): Violation[] => {
  const index = indexObservations(observations)
  const violations: Violation[] = []
  const { isRestored } = observations.setup
  for (const { number, check } of invariants) {
    if (isRestored && COMPARES_CHANGES.has(number)) continue
    try {
      check(index, (about, message) => violations.push({ invariant: number, about, message }))
    } catch (error) {
      // The check met a malformed item.
      violations.push({
        invariant: number,
        about: 'the world',
        message: `cannot be judged: ${error}`,
      })
    }
  }
  return violations
}
