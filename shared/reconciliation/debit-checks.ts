import { isOfItsEvent, isTold } from './events.ts'
import { endsInTime, followsTheLifecycle, hasOneOutcome, isWhole, saysWho } from './history.ts'
import { existsAsAccepted, isClaimed, isNamed } from './identity.ts'
import type { Invariant, Verdict } from './invariants.ts'
import { hasRefund } from './refunds.ts'
import type { SeenDebit, Subscription } from './related.ts'
import { isSettledOnce, isSettledRightly, isTakenBackOnce, keepsItsAmount } from './settled.ts'
import type { Terms } from './window.ts'

type Check = (seen: SeenDebit, terms: Terms, subscription: Subscription) => Verdict

/** Everything that one debit is held against. */
export const debitChecks: readonly [Invariant, Check][] = [
  [1, existsAsAccepted],
  [4, endsInTime],
  [5, followsTheLifecycle],
  [6, hasOneOutcome],
  [9, isNamed],
  [10, isClaimed],
  [12, isWhole],
  [13, isOfItsEvent],
  [15, isTold],
  [22, isSettledOnce],
  [23, isSettledRightly],
  [25, keepsItsAmount],
  [27, isTakenBackOnce],
  [33, saysWho],
  [39, hasRefund],
]
