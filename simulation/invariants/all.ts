import type { Observations, Violation } from '../engine/observations.ts'
import { amountsAreExact } from './amounts.ts'
import { attemptsAreSpaced, responseDecidesRetry } from './attempts.ts'
import {
  bankLearnsOutcome,
  rejectedReportsAreRecorded,
  repeatedStatusChangesNothing,
} from './bank-reports.ts'
import { batchesMatchLines, moneyIsConserved } from './batches.ts'
import { acceptedChargeKept, refusedChargeLeavesNoTrace, replayMatchesCharge } from './charges.ts'
import { dayTotalsMatchDebits, refusesOnlyAboveLimit } from './daily-limits.ts'
import { wantedEventsEnd } from './deliveries.ts'
import { eventIdsAreStable, eventsMatchHistory } from './events.ts'
import { feesAreRight } from './fees.ts'
import {
  historyFollowsLifecycle,
  isWhole,
  movesNameTheirCause,
  oneOutcomeWins,
} from './histories.ts'
import { allOf, type Invariant } from './invariant.ts'
import { indexObservations } from './observation-index.ts'
import { bankIsQueriedFirst, debitsEndInTime, timesMatchHistory } from './outcomes.ts'
import { postsAreSigned, postsReachOwner } from './posts.ts'
import { reversalsAreRefundedOnce } from './refunds.ts'
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

/** What must hold of every world, whatever went wrong in it. */
export const invariants: readonly Invariant[] = [
  { number: 1, rule: 'an accepted charge stays as it was answered', check: acceptedChargeKept },
  { number: 2, rule: 'a refused charge leaves nothing behind', check: refusedChargeLeavesNoTrace },
  {
    number: 3,
    rule: 'a charge is there once or not at all, and a repeat tells',
    check: replayMatchesCharge,
  },
  { number: 4, rule: 'a debit comes to its end in time', check: debitsEndInTime },
  { number: 5, rule: 'a history is a path through the lifecycle', check: historyFollowsLifecycle },
  {
    number: 6,
    rule: 'of rival outcomes one wins, and the losers are told',
    check: allOf(oneOutcomeWins, bankLearnsOutcome),
  },
  { number: 7, rule: 'the same status again changes nothing', check: repeatedStatusChangesNothing },
  { number: 8, rule: 'times and messages are those of the way it came', check: timesMatchHistory },
  { number: 9, rule: 'references and uuids are unique and well-formed', check: idsAreUnique },
  { number: 10, rule: 'a reference of a provider names one debit', check: referenceIsClaimedOnce },
  { number: 11, rule: 'a bank acts on a debit once', check: bankActsOnce },
  { number: 12, rule: 'a move has one event, which names the status before', check: isWhole },
  {
    number: 13,
    rule: 'an event has one id, each POST its own and a record',
    check: eventIdsAreStable,
  },
  {
    number: 14,
    rule: 'events have no holes, and tell the state they led to',
    check: eventsMatchHistory,
  },
  { number: 15, rule: 'a wanted event is delivered or given up', check: wantedEventsEnd },
  { number: 16, rule: 'attempts are as far apart as they must be', check: attemptsAreSpaced },
  {
    number: 17,
    rule: 'an answer decides whether there is another attempt',
    check: responseDecidesRetry,
  },
  { number: 18, rule: 'a signature is of the bytes, by the right secret', check: postsAreSigned },
  { number: 19, rule: 'what is of a provider goes to no other', check: postsReachOwner },
  {
    number: 20,
    rule: 'the day total is the sum, within the limit, always',
    check: dayTotalsMatchDebits,
  },
  { number: 21, rule: 'what fits the limit is not refused for it', check: refusesOnlyAboveLimit },
  { number: 22, rule: 'a completed debit is settled once', check: debitsAreSettledOnce },
  { number: 23, rule: 'only a completed debit gets a line', check: linesAreOfCompletedDebits },
  { number: 24, rule: 'a batch is the sum of its lines', check: batchesMatchLines },
  { number: 25, rule: 'no money is made or lost', check: moneyIsConserved },
  { number: 26, rule: 'a sealed batch stays, and is paid once', check: sealedBatchesStay },
  { number: 27, rule: 'a reversal is taken back once, and later', check: reversalsAreAdjustedOnce },
  {
    number: 28,
    rule: 'a debit is settled by the first night that sees it',
    check: debitsAreSettledInTime,
  },
  { number: 29, rule: 'a fee is rounded once, half to even', check: feesAreRight },
  {
    number: 30,
    rule: 'amounts are whole pesewas, and told with two decimals',
    check: amountsAreExact,
  },
  {
    number: 31,
    rule: 'a rejected bank report has one exception with its body',
    check: rejectedReportsAreRecorded,
  },
  { number: 32, rule: 'what is of another is as if it were not there', check: objectsAreIsolated },
  { number: 33, rule: 'a move says who made it, when, and why', check: movesNameTheirCause },
  {
    number: 38,
    rule: 'a bank is call before a timeout fails its debit',
    check: bankIsQueriedFirst,
  },
  {
    number: 39,
    rule: 'a reversed debit is refunded once, by its own bank',
    check: reversalsAreRefundedOnce,
  },
]

/** @returns what does not hold; nothing: all is well */
export const violationsOf = (observations: Observations): Violation[] => {
  const index = indexObservations(observations)
  const violations: Violation[] = []
  for (const { number, check } of invariants) {
    try {
      check(index, (about, message) => violations.push({ invariant: number, about, message }))
    } catch (error) {
      // An item that is not as any item is.
      violations.push({
        invariant: number,
        about: 'the world',
        message: `cannot be judged: ${error}`,
      })
    }
  }
  return violations
}
