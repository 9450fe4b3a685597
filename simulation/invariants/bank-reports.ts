import { type BankReportCall, isReporting, isValidReport } from './bank-report-calls.ts'
import { allOf, type Check, type Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { isAccepted, isRefused, isUnknown, membersOf, requestIdOf } from './reply.ts'

/** 6, 7, 31: bank reports and their effects. */

const INVALID_TRANSITION = 3001

/** Returns when a debit got a status; undefined for never. */
const cameTo = ({ changes }: DebitHistory, status: string): number | undefined =>
  changes.find(({ before, after }) => after?.status === status && before?.status !== status)?.at

/** The statuses that a report loses to. */
const RIVALS: Record<string, readonly string[]> = {
  completed: ['failed', 'reversed'],
  failed: ['completed'],
  approved: ['completed', 'failed'],
}

/** 6: an accepted report won or repeats the winner; a rejected one lost. */
export const bankLearnsOutcome: Check = ({ reports, byUuid }, report) => {
  for (const { call, uuid, status, code } of reports) {
    const debit = byUuid.get(uuid)
    const { reply } = call
    if (!debit || !reply || typeof status !== 'string') continue
    const hadCome = (to: string): boolean => (cameTo(debit, to) ?? Infinity) <= reply.at
    const about = debit.item.reference
    if (isAccepted(call) && status !== 'approved' && !hadCome(status)) {
      report(about, `its bank received ${status}, which it was not`)
    }
    if (code === INVALID_TRANSITION && !RIVALS[status]?.some(hadCome)) {
      report(about, `its bank was rejected, but ${status} was possible`)
    }
  }
}

/** 7: a repeated status is accepted and writes nothing. */
export const repeatedStatusChangesNothing: Check = (index, report) => {
  for (const bankReport of index.reports) {
    const debit = index.byUuid.get(bankReport.uuid)
    if (!debit) continue
    const { call, status, code } = bankReport
    if (isRefused(call) && writtenBy(bankReport, debit, index) > 0) {
      report(debit.item.reference, `was changed, but its bank received ${call.reply?.status}`)
    }
    if (!isRepeat(bankReport, debit)) continue
    if (code === INVALID_TRANSITION) {
      report(debit.item.reference, `was already ${status}, but its bank was rejected`)
    }
    if (writtenBy(bankReport, debit, index) > 0) {
      report(debit.item.reference, `was already ${status}, but was written again`)
    }
  }
  for (const [reference, { changes }] of index.debits) {
    for (const { before, after, by, sequence } of changes) {
      if (!before || !after) continue
      const isLasting =
        (before.approval === undefined || before.approval.rid === after.approval?.rid) &&
        (before.settledIn === undefined || before.settledIn === after.settledIn) &&
        (before.adjustedIn === undefined || before.adjustedIn === after.adjustedIn)
      if (!isLasting) report(reference, `change ${sequence} marks it again`)
      if (isReporting(by?.name)) checkReportedChange(index, { sequence, before, after, by }, report)
    }
  }
}

const writtenBy = (
  { call }: BankReportCall,
  { item }: DebitHistory,
  { byInvocation }: ObservationIndex,
): number =>
  (call.invocation === undefined ? [] : (byInvocation.get(call.invocation) ?? [])).filter(
    ({ after }) => after?.pk === item.pk && after.sk === item.sk,
  ).length

/** Reports whether the debit had that status from the call to the reply. */
const isRepeat = ({ call, status }: BankReportCall, debit: DebitHistory): boolean => {
  if (status !== 'completed' && status !== 'failed') return false
  const since = cameTo(debit, status)
  const reversedAt = cameTo(debit, 'reversed') ?? Infinity
  return since !== undefined && since < call.at && reversedAt > (call.reply?.at ?? Infinity)
}

type Reported = Pick<DebitHistory['changes'][number], 'sequence' | 'before' | 'after' | 'by'>

/** Checks that a report's write matches its body. */
const checkReportedChange = (
  { askedBy }: ObservationIndex,
  change: Reported,
  report: Reporter,
): void => {
  const { before, after, by, sequence } = change
  const call = by && askedBy.get(by.invocation)
  if (!call || !before || !after) return
  const { status } = membersOf(call.sent)
  const isSaid = status === 'approved' ? before.status === after.status : status === after.status
  if (!isSaid) report(after.reference, `change ${sequence} differs from its bank's report`)
}

const REJECTED = new Set([400, 422])

/** 31: each rejected report of the owning bank has one exception, with its body. */
const exceptionsAreComplete: Check = (index, report) => {
  const recordsOf = Map.groupBy(index.exceptions, ({ requestId }) => requestId)
  const answered = new Set<unknown>()
  for (const bankReport of index.reports) {
    const { call, bank, uuid, sent } = bankReport
    const debit = index.byUuid.get(uuid)
    const isOwn = debit?.item.bank.identifier === bank
    if (!debit || !isOwn || !call.reply || !REJECTED.has(call.reply.status)) continue
    const requestId = requestIdOf(call.reply)
    answered.add(requestId)
    const records = recordsOf.get(String(requestId)) ?? []
    const [record] = records
    if (records.length !== 1) report(uuid, `has ${records.length} exceptions for a rejected report`)
    if (!record) continue
    const body = typeof call.sent === 'string' ? call.sent : JSON.stringify(sent)
    if (record.report !== body) report(uuid, 'has an exception with another body')
    const kind = kindOf(bankReport, debit)
    if (record.kind !== kind) report(uuid, `has an exception of kind ${record.kind}, not ${kind}`)
  }
  for (const record of index.exceptions) {
    const debit = index.debits.get(record.reference)
    const isOfDebit =
      record.amount === debit?.item.amount &&
      record.provider === debit?.item.provider &&
      record.bank === debit?.item.bank.identifier
    if (!isOfDebit) report(record.pk, 'does not match its debit')
    if (answered.has(record.requestId) || !debit) continue
    if (!mayBeUnanswered(index, debit, answered)) report(record.pk, 'has no report of a bank')
  }
}

/** 31: a report is rejected exactly if it breaks the published rules or loses. */
const onlyInvalidReportsAreRejected: Check = ({ reports, byUuid }, report) => {
  for (const { call, uuid, bank, code } of reports) {
    const isOwn = byUuid.get(uuid)?.item.bank.identifier === bank
    if (!isOwn || !call.reply || code === INVALID_TRANSITION) continue
    const isValid = isValidReport(call)
    if (isValid && REJECTED.has(call.reply.status)) report(uuid, `a valid report received ${code}`)
    if (!isValid && isAccepted(call)) report(uuid, 'an invalid report was accepted')
  }
}

export const rejectedReportsAreRecorded = allOf(
  exceptionsAreComplete,
  onlyInvalidReportsAreRejected,
)

const kindOf = ({ call, status, code }: BankReportCall, debit: DebitHistory): string => {
  const had = (to: string): boolean => (cameTo(debit, to) ?? Infinity) <= (call.reply?.at ?? 0)
  if (code !== INVALID_TRANSITION) return 'refused_report'
  if (status === 'completed' && had('failed')) return 'late_completion'
  return status === 'failed' && had('completed') ? 'contradiction' : 'refused_report'
}

/** A function that crashed after its write may have recorded one exception without a reply. */
const mayBeUnanswered = (
  { reports }: ObservationIndex,
  { item: { uuid }, exceptions }: DebitHistory,
  answered: ReadonlySet<unknown>,
): boolean => {
  const unanswered = exceptions.filter(({ requestId }) => !answered.has(requestId)).length
  return (
    unanswered <=
    reports.filter(({ uuid: other, call }) => other === uuid && isUnknown(call)).length
  )
}
