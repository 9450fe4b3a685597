import type { Check } from './observation-index.ts'

/** 67: two releases at once (docs/architecture.md#two-versions-run-at-the-same-time). */

/** The member that a later release adds to each item and message. */
export const LATER = { addedLater: 'by a later version' }

/** The items that a write replaces whole, and those that a repeat writes again. */
export const REPLACED: ReadonlySet<unknown> = new Set([
  ...['payee', 'account', 'ledger', 'ledger-page', 'sweep'],
  ...['attempt', 'waiting', 'missed-account', 'bulk-part', 'bulk-rows', 'reconciliation-providers'],
])

/** 67: an update keeps the members that it does not know. */
export const unknownMembersStay: Check = ({ observations: { changes } }, report) => {
  for (const { before, after, by } of changes) {
    // A recovery that is done is followed by another one.
    const isEnded = before?.entity === 'recovery' && before.status === 'done'
    const isLost = before && after && 'addedLater' in before && !('addedLater' in after) && !isEnded
    if (isLost && by && !REPLACED.has(after.entity))
      report(`${after.pk} ${after.sk}`, `loses a member of a later release by ${by.name}`)
  }
}
