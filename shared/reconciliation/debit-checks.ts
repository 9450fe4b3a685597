import { isOfItsEvent, isPublished } from './events.ts'
import {
  endsInTime,
  followsTheLifecycle,
  hasActor,
  hasOneOutcome,
  versionMatches,
} from './history.ts'
import { existsAsAccepted, isClaimed, isNamed } from './identity.ts'
import type { CheckResult, Invariant } from './invariants.ts'
import { hasRefund } from './refunds.ts'
import type { DebitRecord, Subscription } from './related.ts'
import { isAdjustedOnce, isSettledOnce, isSettledRightly, keepsItsAmount } from './settled.ts'
import type { Window } from './window.ts'

type Check = (seen: DebitRecord, terms: Window, subscription: Subscription) => CheckResult

/** Everything that one debit is held against. */
export const debitChecks: readonly [Invariant, Check][] = [
  [1, existsAsAccepted],
  [4, endsInTime],
  [5, followsTheLifecycle],
  [6, hasOneOutcome],
  [9, isNamed],
  [10, isClaimed],
  [12, versionMatches],
  [13, isOfItsEvent],
  [15, isPublished],
  [22, isSettledOnce],
  [23, isSettledRightly],
  [25, keepsItsAmount],
  [27, isAdjustedOnce],
  [33, hasActor],
  [39, hasRefund],
]
