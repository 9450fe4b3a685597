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
import { abandonedEventsAreRecovered } from './recoveries.ts'
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
  { number: 1, says: 'an accepted charge stays as it was answered', check: acceptedChargeKept },
  { number: 2, says: 'a refused charge leaves nothing behind', check: refusedChargeLeavesNoTrace },
  {
    number: 3,
    says: 'a charge is there once or not at all, and a repeat tells',
    check: replayMatchesCharge,
  },
  { number: 4, says: 'a debit comes to its end in time', check: debitsEndInTime },
  { number: 5, says: 'a history is a path through the lifecycle', check: historyFollowsLifecycle },
  {
    number: 6,
    says: 'of rival outcomes one wins, and the losers are told',
    check: allOf(oneOutcomeWins, bankLearnsOutcome),
  },
  { number: 7, says: 'the same status again changes nothing', check: repeatedStatusChangesNothing },
  { number: 8, says: 'times and messages are those of the way it came', check: timesMatchHistory },
  { number: 9, says: 'references and uuids are unique and well-formed', check: idsAreUnique },
  { number: 10, says: 'a reference of a provider names one debit', check: referenceIsClaimedOnce },
  { number: 11, says: 'a bank acts on a debit once', check: bankActsOnce },
  { number: 12, says: 'a move has one event, which names the status before', check: isWhole },
  {
    number: 13,
    says: 'an event has one id, each POST its own and a record',
    check: eventIdsAreStable,
  },
  {
    number: 14,
    says: 'events have no holes, and tell the state they led to',
    check: eventsMatchHistory,
  },
  {
    number: 15,
    says: 'a wanted event is delivered or given up',
    check: allOf(wantedEventsEnd, abandonedEventsAreRecovered),
  },
  { number: 16, says: 'attempts are as far apart as they must be', check: attemptsAreSpaced },
  {
    number: 17,
    says: 'an answer decides whether there is another attempt',
    check: responseDecidesRetry,
  },
  { number: 18, says: 'a signature is of the bytes, by the right secret', check: postsAreSigned },
  { number: 19, says: 'what is of a provider goes to no other', check: postsReachOwner },
  {
    number: 20,
    says: 'the day total is the sum, within the limit, always',
    check: dayTotalsMatchDebits,
  },
  { number: 21, says: 'what fits the limit is not refused for it', check: refusesOnlyAboveLimit },
  { number: 22, says: 'a completed debit is settled once', check: debitsAreSettledOnce },
  { number: 23, says: 'only a completed debit gets a line', check: linesAreOfCompletedDebits },
  { number: 24, says: 'a batch is the sum of its lines', check: batchesMatchLines },
  { number: 25, says: 'no money is made or lost', check: moneyIsConserved },
  { number: 26, says: 'a sealed batch stays, and is paid once', check: sealedBatchesStay },
  { number: 27, says: 'a reversal is taken back once, and later', check: reversalsAreAdjustedOnce },
  {
    number: 28,
    says: 'a debit is settled by the first night that sees it',
    check: debitsAreSettledInTime,
  },
  { number: 29, says: 'a fee is rounded once, half to even', check: feesAreRight },
  {
    number: 30,
    says: 'amounts are whole pesewas, and told with two decimals',
    check: amountsAreExact,
  },
  {
    number: 31,
    says: 'a rejected bank report has one exception with its body',
    check: rejectedReportsAreRecorded,
  },
  { number: 32, says: 'what is of another is as if it were not there', check: objectsAreIsolated },
  { number: 33, says: 'a move says who made it, when, and why', check: movesNameTheirCause },
  {
    number: 38,
    says: 'a bank is call before a timeout fails its debit',
    check: bankIsQueriedFirst,
  },
  {
    number: 39,
    says: 'a reversed debit is refunded once, by its own bank',
    check: reversalsAreRefundedOnce,
  },
]

/** @returns what does not hold; nothing: all is well */
export const violationsOf = (observations: Observations): Violation[] => {
  const index = indexObservations(observations)
  const violations: Violation[] = []
  for (const { number, check } of invariants) {
    try {
      check(index, (about, says) => violations.push({ invariant: number, about, says }))
    } catch (error) {
      // An item that is not as any item is.
      violations.push({ invariant: number, about: 'the world', says: `cannot be judged: ${error}` })
    }
  }
  return violations
}
