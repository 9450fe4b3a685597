import { type BankReportCall, isReporting } from './bank-report-calls.ts'
import type { Check, Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { isAccepted, isRefused, isUnknown, membersOf, requestIdOf } from './reply.ts'

/** 6, 7, 31: what banks reported, and what became of it. */

const INVALID_TRANSITION = 3001

/** When a debit came to a status, by the write of it; undefined: never. */
const cameTo = ({ changes }: DebitHistory, status: string): number | undefined =>
  changes.find(({ before, after }) => after?.status === status && before?.status !== status)?.at

/** What a report loses to. */
const RIVALS: Record<string, readonly string[]> = {
  completed: ['failed', 'reversed'],
  failed: ['completed'],
  approved: ['completed', 'failed'],
}

/** 6: who is told yes has won, or came after one who said the same; who is told no has lost. */
export const bankLearnsOutcome: Check = ({ reports, byUuid }, report) => {
  for (const { call, uuid, status, code } of reports) {
    const debit = byUuid.get(uuid)
    const { reply } = call
    if (!debit || !reply || typeof status !== 'string') continue
    const hadCome = (to: string): boolean => (cameTo(debit, to) ?? Infinity) <= reply.at
    const about = debit.item.reference
    if (isAccepted(call) && status !== 'approved' && !hadCome(status)) {
      report(about, `its bank was told that it is ${status}`)
    }
    if (code === INVALID_TRANSITION && !RIVALS[status]?.some(hadCome)) {
      report(about, `its bank was told that it cannot be ${status}`)
    }
  }
}

/** 7: who says the same again is told yes, and nothing is written. */
export const repeatedStatusChangesNothing: Check = (index, report) => {
  for (const bankReport of index.reports) {
    const debit = index.byUuid.get(bankReport.uuid)
    if (!debit) continue
    const { call, status, code } = bankReport
    if (isRefused(call) && writtenBy(bankReport, debit, index) > 0) {
      report(debit.item.reference, `was changed, and its bank was told ${call.reply?.status}`)
    }
    if (!isRepeat(bankReport, debit)) continue
    if (code === INVALID_TRANSITION) {
      report(debit.item.reference, `was ${status} already, and its bank was refused`)
    }
    if (writtenBy(bankReport, debit, index) > 0) {
      report(debit.item.reference, `was ${status} already, and is written again`)
    }
  }
  for (const [reference, { changes }] of index.debits) {
    for (const { before, after, by, sequence } of changes) {
      if (!before || !after) continue
      const isLasting =
        (before.approval === undefined || before.approval.rid === after.approval?.rid) &&
        (before.settledIn === undefined || before.settledIn === after.settledIn) &&
        (before.adjustedIn === undefined || before.adjustedIn === after.adjustedIn)
      if (!isLasting) report(reference, `change ${sequence} marks it a second time`)
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

/** Whether it had come to that status before it was call, and was there until the reply. */
const isRepeat = ({ call, status }: BankReportCall, debit: DebitHistory): boolean => {
  if (status !== 'completed' && status !== 'failed') return false
  const since = cameTo(debit, status)
  const left = cameTo(debit, 'reversed') ?? Infinity
  return since !== undefined && since < call.at && left > (call.reply?.at ?? Infinity)
}

type Reported = Pick<DebitHistory['changes'][number], 'sequence' | 'before' | 'after' | 'by'>

/** What a report writes is what it said. */
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
  if (!isSaid) report(after.reference, `change ${sequence} is not what its bank said`)
}

const REJECTED = new Set([400, 422])

/** 31: each rejected report of the owning bank has one exception, with the body that was sent. */
export const rejectedReportsAreRecorded: Check = (index, report) => {
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
    if (records.length !== 1) report(uuid, `has ${records.length} records of a rejected report`)
    if (!record) continue
    if (record.report !== JSON.stringify(sent)) report(uuid, 'has a record of another body')
    const kind = kindOf(bankReport, debit)
    if (record.kind !== kind) report(uuid, `has a record of ${record.kind}, not of ${kind}`)
  }
  for (const record of index.exceptions) {
    const debit = index.debits.get(record.reference)
    const isOfDebit =
      record.amount === debit?.item.amount &&
      record.provider === debit?.item.provider &&
      record.bank === debit?.item.bank.identifier
    if (!isOfDebit) report(record.pk, 'is not of its debit')
    if (answered.has(record.requestId) || !debit) continue
    if (!mayBeUnanswered(index, debit, answered)) report(record.pk, 'has no bankReport of a bank')
  }
}

const kindOf = ({ call, status, code }: BankReportCall, debit: DebitHistory): string => {
  const had = (to: string): boolean => (cameTo(debit, to) ?? Infinity) <= (call.reply?.at ?? 0)
  if (code !== INVALID_TRANSITION) return 'refused_report'
  if (status === 'completed' && had('failed')) return 'late_completion'
  return status === 'failed' && had('completed') ? 'contradiction' : 'refused_report'
}

/** A function that ended after it wrote the record gave no answer: one record each. */
const mayBeUnanswered = (
  { reports }: ObservationIndex,
  { item: { uuid }, exceptions }: DebitHistory,
  answered: ReadonlySet<unknown>,
): boolean => {
  const unanswered = exceptions.filter(({ requestId }) => !answered.has(requestId)).length
  return unanswered <= reports.filter((one) => one.uuid === uuid && isUnknown(one.call)).length
}
