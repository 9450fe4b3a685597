import type { ReportKind } from '../../../shared/domain/debits/exception.ts'
import type { ApiCall } from '../engine/observations.ts'
import {
  type BankReportCall,
  isAccepted,
  isRefused,
  isUnknown,
  type Members,
  requestIdOf,
} from './calls.ts'
import { expectations, statuses } from './lifecycle.ts'
import type { Check, DebitHistory, ObservationIndex } from './observation-index.ts'
import { pesewasOfFee } from './time-and-money.ts'

/** 6, 7, 31: bank reports and their effects. */

const INVALID_TRANSITION = 3001

const reachedAt = ({ changes }: DebitHistory, status: unknown): number =>
  changes.find(({ before, after }) => after?.status === status && before?.status !== status)?.at ??
  Infinity

/** Returns the kinds of exception that the statuses until a time make of a report. */
const rejectionsOf = (debit: DebitHistory, report: unknown, at: number): ReportKind[] =>
  statuses
    .filter((status) => reachedAt(debit, status) <= at)
    .flatMap((status) => expectations[status].rejects[String(report)] ?? [])

export const bankLearnsOutcome: Check = ({ reports, byUuid }, report) => {
  for (const { call, uuid, status, code } of reports) {
    const debit = byUuid.get(uuid)
    const { reply } = call
    if (!debit || !reply || typeof status !== 'string') continue
    const about = debit.item.reference
    if (isAccepted(call) && status !== 'approved' && reachedAt(debit, status) > reply.at)
      report(about, `its bank received ${status}, which it was not`)
    if (code === INVALID_TRANSITION && rejectionsOf(debit, status, reply.at).length === 0)
      report(about, `its bank was rejected, but ${status} was possible`)
  }
}

export const repeatedStatusChangesNothing: Check = (index, report) => {
  for (const bankReport of index.reports) {
    const debit = index.byUuid.get(bankReport.uuid)
    if (!debit) continue
    const { call, status, code } = bankReport
    const { reference } = debit.item
    const writes = debit.changes.filter(({ by }) => by?.invocation === call.invocation)
    if (isRefused(call) && writes.length > 0)
      report(reference, `was changed, but its bank received ${call.reply?.status}`)
    const isSaid = ({ before, after }: (typeof writes)[number]): boolean =>
      status === 'approved' ? before?.status === after?.status : status === after?.status
    if (!writes.every(isSaid)) report(reference, `was changed, but its bank reported ${status}`)
    if (!isRepeat(bankReport, debit)) continue
    if (code === INVALID_TRANSITION)
      report(reference, `was already ${status}, but its bank was rejected`)
    if (writes.length > 0) report(reference, `was already ${status}, but was written again`)
  }
  for (const [reference, { changes }] of index.debits) {
    for (const { before, after, sequence } of changes) {
      if (!before || !after) continue
      const isLasting =
        (before.approval === undefined || before.approval.rid === after.approval?.rid) &&
        (before.settledIn === undefined || before.settledIn === after.settledIn) &&
        (before.adjustedIn === undefined || before.adjustedIn === after.adjustedIn)
      if (!isLasting) report(reference, `change ${sequence} marks it again`)
    }
  }
}

/** Reports whether the debit had that status from the call to the reply. */
const isRepeat = ({ call, status }: BankReportCall, debit: DebitHistory): boolean => {
  const left = debit.changes.find(
    ({ before, after }) => before?.status === status && after && after.status !== status,
  )
  const isKept = (left?.at ?? Infinity) > (call.reply?.at ?? Infinity)
  return reachedAt(debit, status) < call.at && isKept
}

const REJECTED = new Set([400, 422])

export const exceptionsAreComplete: Check = (index, report) => {
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
    if (record.code !== bankReport.code) report(uuid, `has an exception of ${record.code}`)
  }
  for (const record of index.exceptions) {
    const debit = index.debits.get(record.reference)
    if (!debit || answered.has(record.requestId)) continue
    if (!mayBeUnanswered(index, debit, answered)) report(record.pk, 'has no report of a bank')
  }
}

const METHODS = new Set<unknown>(['ussd', 'mobile_api', 'web', 'mobile_app', null, undefined])
const METADATA_BYTES = 8_192

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsed = (sent: unknown): unknown => {
  if (typeof sent !== 'string') return sent
  try {
    return JSON.parse(sent)
  } catch {
    return undefined
  }
}

const isText = (value: unknown, max = Infinity): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= max

const isValidReport = ({ name, sent }: ApiCall): boolean => {
  const body = parsed(sent)
  if (!isObject(body)) return false
  const { status, fee, metadata } = body
  const isApproved = status === 'approved' && name === 'debit-callback'
  const isEnd = status === 'completed' || status === 'failed'
  return (
    (isEnd || isApproved) &&
    isText(body.bank_reference, 255) &&
    (status !== 'failed' || isText(body.error_message)) &&
    METHODS.has(body.approval_method) &&
    (fee === null || fee === undefined || pesewasOfFee(fee) !== undefined) &&
    (metadata === null || metadata === undefined || isObject(metadata)) &&
    JSON.stringify(metadata ?? {}).length <= METADATA_BYTES
  )
}

/** 31: a report is rejected exactly if it breaks the published rules or loses. */
export const onlyInvalidReportsAreRejected: Check = ({ reports, byUuid }, report) => {
  for (const { call, uuid, bank, code } of reports) {
    const isOwn = byUuid.get(uuid)?.item.bank.identifier === bank
    if (!isOwn || !call.reply || code === INVALID_TRANSITION) continue
    const isValid = isValidReport(call)
    if (isValid && REJECTED.has(call.reply.status)) report(uuid, `a valid report received ${code}`)
    if (!isValid && isAccepted(call)) report(uuid, 'an invalid report was accepted')
  }
}

const kindOf = ({ call, status, code }: BankReportCall, debit: DebitHistory): ReportKind => {
  if (code !== INVALID_TRANSITION) return 'refused_report'
  const [kind = 'refused_report'] = rejectionsOf(debit, status, call.reply?.at ?? 0)
  return kind
}

/** A function that crashed after its write may have recorded one exception without a reply, or a query found it. */
const mayBeUnanswered = (
  { reports, queriesOf }: ObservationIndex,
  { uuid, exceptions }: DebitHistory,
  answered: ReadonlySet<unknown>,
): boolean => {
  const unanswered = exceptions.filter(({ requestId }) => !answered.has(requestId))
  const unknown = reports.filter(({ uuid: other, call }) => other === uuid && isUnknown(call))
  const found = (queriesOf.get(uuid) ?? []).filter(({ answer }) => answer === 'completed')
  return unanswered.length <= unknown.length + found.length
}
