import type { Complaint, Witnessed } from '../engine/observations.ts'
import { isExact } from './amounts.ts'
import { isRetriedRightly, isSpaced } from './attempts.ts'
import { isOnRecord, isToldWhoWon, isUnchanged } from './bank-reports.ts'
import { isSummed, keepsAllMoney } from './batches.ts'
import { isToldAgain, lasts, leavesNothing } from './charges.ts'
import { keepsTheLimit, refusesNoneThatFits } from './daily-limits.ts'
import { booksOf } from './debit-histories.ts'
import { isDelivered } from './deliveries.ts'
import { hasItsId, isToldAsItWas } from './events.ts'
import { isChargedRightly } from './fees.ts'
import { hasOneOutcome, isPath, isWhole, saysWho } from './histories.ts'
import { type Invariant, together } from './invariant.ts'
import { endsInTime, hasItsTimes, isAskedFirst } from './outcomes.ts'
import { isSigned, reachesItsOwner } from './posts.ts'
import { isRefundedOnce } from './refunds.ts'
import { staysAsItIs } from './sealed-batches.ts'
import { isOfCompleted, isSettledInTime, isSettledOnce, isTakenBackOnce } from './settled-debits.ts'
import { isSubmittedOnce } from './submissions.ts'
import { isOfItsOwner } from './tenancy.ts'
import { isClaimedOnce, isNamedRightly } from './uniqueness.ts'

/** What must hold of every world, whatever went wrong in it. */
export const invariants: readonly Invariant[] = [
  { number: 1, says: 'an accepted charge stays as it was answered', check: lasts },
  { number: 2, says: 'a refused charge leaves nothing behind', check: leavesNothing },
  {
    number: 3,
    says: 'a charge is there once or not at all, and a repeat tells',
    check: isToldAgain,
  },
  { number: 4, says: 'a debit comes to its end in time', check: endsInTime },
  { number: 5, says: 'a history is a path through the lifecycle', check: isPath },
  {
    number: 6,
    says: 'of rival outcomes one wins, and the losers are told',
    check: together(hasOneOutcome, isToldWhoWon),
  },
  { number: 7, says: 'the same status again changes nothing', check: isUnchanged },
  { number: 8, says: 'times and messages are those of the way it came', check: hasItsTimes },
  { number: 9, says: 'references and uuids are unique and well-formed', check: isNamedRightly },
  { number: 10, says: 'a reference of a provider names one debit', check: isClaimedOnce },
  { number: 11, says: 'a bank acts on a debit once', check: isSubmittedOnce },
  { number: 12, says: 'a move has one event, which names the status before', check: isWhole },
  { number: 13, says: 'an event has one id, each POST its own and a record', check: hasItsId },
  {
    number: 14,
    says: 'events have no holes, and tell the state they led to',
    check: isToldAsItWas,
  },
  { number: 15, says: 'a wanted event is delivered or given up', check: isDelivered },
  { number: 16, says: 'attempts are as far apart as they must be', check: isSpaced },
  {
    number: 17,
    says: 'an answer decides whether there is another attempt',
    check: isRetriedRightly,
  },
  { number: 18, says: 'a signature is of the bytes, by the right secret', check: isSigned },
  { number: 19, says: 'what is of a provider goes to no other', check: reachesItsOwner },
  { number: 20, says: 'the day total is the sum, within the limit, always', check: keepsTheLimit },
  { number: 21, says: 'what fits the limit is not refused for it', check: refusesNoneThatFits },
  { number: 22, says: 'a completed debit is settled once', check: isSettledOnce },
  { number: 23, says: 'only a completed debit gets a line', check: isOfCompleted },
  { number: 24, says: 'a batch is the sum of its lines', check: isSummed },
  { number: 25, says: 'no money is made or lost', check: keepsAllMoney },
  { number: 26, says: 'a sealed batch stays, and is paid once', check: staysAsItIs },
  { number: 27, says: 'a reversal is taken back once, and later', check: isTakenBackOnce },
  {
    number: 28,
    says: 'a debit is settled by the first night that sees it',
    check: isSettledInTime,
  },
  { number: 29, says: 'a fee is rounded once, half to even', check: isChargedRightly },
  { number: 30, says: 'amounts are whole pesewas, and told with two decimals', check: isExact },
  { number: 31, says: 'a rejected bank report has one exception with its body', check: isOnRecord },
  { number: 32, says: 'what is of another is as if it were not there', check: isOfItsOwner },
  { number: 33, says: 'a move says who made it, when, and why', check: saysWho },
  { number: 38, says: 'a bank is asked before a timeout fails its debit', check: isAskedFirst },
  { number: 39, says: 'a reversed debit is refunded once, by its own bank', check: isRefundedOnce },
]

/** @returns what does not hold; nothing: all is well */
export const complaintsOf = (witnessed: Witnessed): Complaint[] => {
  const books = booksOf(witnessed)
  const complaints: Complaint[] = []
  for (const { number, check } of invariants) {
    try {
      check(books, (about, says) => complaints.push({ invariant: number, about, says }))
    } catch (error) {
      // An item that is not as any item is.
      complaints.push({ invariant: number, about: 'the world', says: `cannot be judged: ${error}` })
    }
  }
  return complaints
}
