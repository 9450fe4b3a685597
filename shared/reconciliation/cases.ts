import { type Debit, stateAt } from '../domain/debits/debit.ts'
import {
  type ExceptionKind,
  exceptionStatuses,
  type ReportException,
  refundIn,
} from '../domain/debits/exception.ts'
import type { Refund, RefundStatus } from '../domain/debits/refund.ts'
import { isHeldBy } from '../domain/operator/restore.ts'
import { exceptionPages } from '../store/debits/exceptions.ts'
import { findRefunds, refundPages } from '../store/debits/refunds.ts'
import { type CheckResult, checkResult, combine, notApplicable } from './findings.ts'
import { EXPECTED, type StatusExpectation } from './lifecycle.ts'
import type { PartScope, Task } from './part.ts'
import { findUnrecorded, readDebits } from './read.ts'
import {
  areInOrder,
  isSet,
  isTooOld,
  mayHaveExpired,
  type SettledRecord,
  timeOf,
  type Window,
} from './records.ts'

/** Checks the exceptions of the day. Metrics and logs count the reports; the table cannot. */
export const checkExceptions = async (
  _: unknown,
  { window, findings }: PartScope,
): Promise<Task[]> => {
  for (const status of exceptionStatuses) {
    for await (const exceptions of exceptionPages(status, window)) {
      const [debits, refunds] = await Promise.all([
        readDebits(exceptions.map(({ reference }) => reference)),
        readRefundsOf(exceptions),
      ])
      for (const exception of exceptions) {
        const { provider, reference: subject } = exception
        const debit = debits.get(subject)
        findings.check(31, { provider, subject }, () =>
          combine([
            exceptionMatches(exception, debit),
            resolvedByRefund(exception, refunds.get(subject), window),
          ]),
        )
      }
    }
  }
  return []
}

const readRefundsOf = async (exceptions: readonly ReportException[]) => {
  const refunded = exceptions.filter(refundIn)
  const refunds = await findRefunds(refunded.map(({ reference }) => reference))
  return new Map(refunds.map((refund) => [refund.reference, refund]))
}

/** The exception counts once, in `exceptionMatches`. */
const resolvedByRefund = (
  exception: ReportException,
  refund: Refund | undefined,
  window: Window,
): CheckResult => {
  const uuid = refundIn(exception)
  const isKnown = refund && [refund, ...refund.failed].some((one) => one.uuid === uuid)
  const difference = `was resolved by the refund ${uuid}, which does not exist`
  return checkResult(
    {
      [difference]: uuid !== undefined && !isKnown && !mayHaveExpired(exception.reference, window),
    },
    0,
  )
}

type Possible = (expected: StatusExpectation) => boolean

/** Whether a debit can have an exception of the kind, by what is expected of its status. */
const IS_POSSIBLE: Record<string, Possible> = {
  late_completion: ({ refund }) => refund === 'late_completion',
  refused_report: () => true,
  contradiction: ({ money }) => money !== null,
  refund: ({ refund }) => refund !== null,
  reversal_request: ({ money }) => money !== null,
} satisfies Record<ExceptionKind, Possible>

/** `compareLedger` reports unknown kinds. */
const isOfStatus = ({ kind }: ReportException, { status }: Debit): boolean =>
  IS_POSSIBLE[kind]?.(EXPECTED[status]) ?? true

const exceptionMatches = (exception: ReportException, debit: Debit | undefined): CheckResult =>
  checkResult({
    'has an exception, but does not exist': debit === undefined,
    [`has a ${exception.kind.replaceAll('_', ' ')}, but is ${debit?.status}`]:
      debit !== undefined && !isOfStatus(exception, debit),
    [`has an exception of ${exception.bank}, which is not its bank`]:
      debit !== undefined && debit.facts.bank.identifier !== exception.bank,
    [`has an exception of ${exception.amount} pesewas, which is not its amount`]:
      debit !== undefined && debit.facts.amount !== exception.amount,
    [`has an exception of ${exception.provider}, which is not its provider`]:
      debit !== undefined && debit.facts.provider !== exception.provider,
    [`has an exception by ${exception.by}`]:
      exception.by !== `bank:${exception.bank}` &&
      exception.by !== `provider:${exception.provider}` &&
      !exception.by.startsWith('job:') &&
      !(exception.kind === 'refund' && exception.by.startsWith('operator:')),
    'has a request that it does not know':
      exception.request !== undefined &&
      debit !== undefined &&
      debit.reversalRequest?.requestId !== exception.requestId,
    'has an accepted request, but is not reversed':
      exception.isAccepted === true && debit?.status !== 'reversed',
    [`has an exception as ${exception.status}, which it never was`]:
      debit !== undefined &&
      exception.status !== undefined &&
      !debit.history.some(({ type }) => type === exception.status),
  })

/** The exception counts once, in `exceptionMatches`. A reversal decides a request that is lost. */
export const knowsItsRequest = ({ debit, request }: SettledRecord): CheckResult => {
  const isReversed = EXPECTED[debit.status].money === 'reversed'
  const claims = {
    'was requested to be reversed, but has no request':
      debit.reversalRequest !== undefined && request === undefined && !isReversed,
    'is reversed, but its request is open':
      request !== undefined && request.resolvedAt === undefined && isReversed,
  }
  return checkResult(claims, 0)
}

export const hasRefund = ({ debit, refund }: SettledRecord): CheckResult =>
  EXPECTED[debit.status].refund === 'reversal' && timeOf(debit, 'completed')
    ? checkResult({ 'is reversed, but has no refund': refund === undefined })
    : notApplicable

/** Checks the refunds that are due or failed, and those that completed on the day. */
export const checkRefunds = async (
  _: unknown,
  { window, findings }: PartScope,
): Promise<Task[]> => {
  const { from, before, now } = window
  const lists = [
    refundPages('due', { from: new Date(0), before: now }),
    refundPages('completed', { from, before }),
  ]
  for (const pages of lists) {
    for await (const refunds of pages) {
      const [debits, unrecorded] = await Promise.all([
        readDebits(refunds.map(({ reference }) => reference)),
        findUnrecorded(refunds),
      ])
      for (const refund of refunds) {
        const { provider, reference: subject } = refund
        const debit = debits.get(subject)
        findings.check(39, { provider, subject }, () =>
          combine([
            refundMatches(refund, debit, window),
            failureIsRecorded(refund, unrecorded.has(subject), window),
          ]),
        )
      }
    }
  }
  return []
}

/** Whether the bank has not given its final reply. */
const IS_OPEN: Record<RefundStatus, boolean> = {
  pending: true,
  processing: true,
  completed: false,
  failed: false,
  waived: false,
}

const isReversedWithoutRefund = ({ history }: Debit): boolean =>
  history.some(({ type, changes }) => type === 'reversed' && changes.refund === 'none')

/** The members of a refund that repeat its debit. An opaque value is not printed. */
const repeatsDebit = (refund: Refund, debit: Debit): Record<string, boolean> => {
  const { facts } = debit
  const { bankReference, accountNumber, metadata } = stateAt(debit)
  const { debitUuid, debitBankReference, origin, provider, bank, amount, createdAt } = refund
  const isReversal = origin === 'reversal'
  const opened = timeOf(debit, 'reversed') ?? createdAt
  return {
    [`has a refund of ${amount} pesewas, which is not its amount`]: facts.amount !== amount,
    [`has a refund by ${bank}, which is not its bank`]: facts.bank.identifier !== bank,
    [`has a refund of ${provider}, which is not its provider`]: facts.provider !== provider,
    [`has a refund of the debit ${debitUuid}`]: facts.uuid !== debitUuid,
    [`has a refund of the bank reference ${debitBankReference}`]:
      isReversal && bankReference !== null && bankReference !== debitBankReference,
    'has a refund to another account': accountNumber !== refund.accountNumber,
    // An operator who retries a refund can give another reason.
    'has a refund for another reason':
      isReversal &&
      refund.failed.length === 0 &&
      (metadata && String(metadata.reversal_reason ?? '')) !== refund.reason,
    [`has a refund since ${createdAt.toISOString()}, unlike its reversal`]:
      isReversal && !(areInOrder([opened, createdAt]) && areInOrder([createdAt, opened])),
  }
}

/** Whether a refund has ended well, so that it has a time of completion. */
const IS_COMPLETED: Record<RefundStatus, boolean> = {
  pending: false,
  processing: false,
  completed: true,
  failed: false,
  waived: true,
}

const contradictsStatus = (refund: Refund): Record<string, boolean> => {
  const { status, createdAt, processedAt, completedAt, failedAt, failure, bankReference } = refund
  return {
    'has a refund whose times are not in order': ![completedAt, failedAt].every((endedAt) =>
      areInOrder([createdAt, processedAt, endedAt]),
    ),
    [`has a refund that is ${status}, but was completed at ${completedAt?.toISOString()}`]:
      IS_COMPLETED[status] !== isSet(completedAt),
    [`has a refund that is ${status}, but failed at ${failedAt?.toISOString()}`]: [
      failedAt,
      failure,
    ].some((member) => isSet(member) !== (status === 'failed')),
    [`has a refund that is ${status}, with the bank reference ${bankReference}`]:
      isSet(bankReference) !== (status === 'completed'),
  }
}

/** The refund counts once, in `refundMatches`. */
const failureIsRecorded = ({ reference }: Refund, isUnrecorded: boolean, window: Window) =>
  checkResult(
    {
      'has a failed refund without an exception':
        isUnrecorded && !mayHaveExpired(reference, window),
    },
    0,
  )

const refundMatches = (refund: Refund, debit: Debit | undefined, window: Window): CheckResult => {
  const { status, origin, createdAt, processedAt } = refund
  const since = processedAt ?? createdAt
  return checkResult({
    'has a refund, but does not exist':
      debit === undefined && !mayHaveExpired(refund.reference, window),
    [`has a refund after ${origin}, but is ${debit?.status}`]:
      debit !== undefined && EXPECTED[debit.status].refund !== origin,
    ...(debit && repeatsDebit(refund, debit)),
    ...contradictsStatus(refund),
    [`has a refund that is ${status} since ${since.toISOString()}`]:
      IS_OPEN[status] && !isHeldBy(window.restore, refund.provider) && isTooOld(since, window),
    [`has a refund that is ${status}, against its reversal`]:
      debit !== undefined && (status === 'waived') !== isReversedWithoutRefund(debit),
  })
}
