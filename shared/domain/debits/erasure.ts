import { withoutErased } from '../personal-data.ts'
import { DAY_SECONDS, secondsAfter } from '../time.ts'
import { type Changes, type Debit, stateAt } from './debit.ts'
import { isOwnMessage, type ReportException } from './exception.ts'
import { isOpen, lifecycle } from './lifecycle.ts'
import { type Refund, refundStatuses, unsentRefunds } from './refund.ts'

/** The erasure of a customer from debits (docs/compliance.md#personal-data). */

/** Prompts are counted by the messages of the service. */
export const eraseChanges = (changes: Changes, by: string): Changes => ({
  ...withoutErased('changes', changes),
  ...(isOwnMessage(by) && changes.errorMessage !== undefined
    ? { errorMessage: changes.errorMessage }
    : {}),
})

/** Returns a debit without its customer; amounts, times and references stay. */
export const eraseDebit = (debit: Debit, at: Date): Debit => ({
  ...withoutErased('debit', debit),
  facts: { ...withoutErased('facts', debit.facts), phone: null, narration: null, metadata: {} },
  version: debit.version + 1,
  history: debit.history.map((entry) => ({
    ...entry,
    changes: eraseChanges(entry.changes, entry.by),
  })),
  erasedAt: at,
})

const KEPT_FAILURES: readonly (string | null)[] = [null, ...Object.values(unsentRefunds)]

/** Erases a refund. A failed one keeps that it failed, and a reason of the service: statements depend on both. */
export const eraseRefund = (refund: Refund): Refund => ({
  ...withoutErased('refund', refund),
  accountNumber: null,
  reason: null,
  failure: KEPT_FAILURES.includes(refund.failure) ? refund.failure : '',
  failed: refund.failed.map((attempt) => ({ ...attempt, failure: '' })),
})

type DebitItems = { refund: Refund | undefined; exceptions: readonly ReportException[] }

/** Returns the work that must end before a debit can be erased; undefined if there is none. */
export const openWork = (debit: Debit, { refund, exceptions }: DebitItems): string | undefined => {
  const { status, settledIn, adjustedIn } = debit
  const { settlement } = lifecycle[status]
  if (isOpen(status)) return status
  if (settlement === 'settle' && !settledIn) return 'not settled'
  if (settlement === 'adjust' && settledIn && !adjustedIn) return 'reversed, but not adjusted'
  if (refund && refundStatuses[refund.status].isOpen) return `with a ${refund.status} refund`
  const open = exceptions.find(({ resolvedAt }) => resolvedAt === undefined)
  return open && `with an open ${open.kind} exception`
}

/** Returns the time from which a debit without open work can be erased. */
export const erasableFrom = (debit: Debit, eraseAfterDays: number): Date =>
  secondsAfter(stateAt(debit).updatedAt, eraseAfterDays * DAY_SECONDS)
