import type { ReportKind } from '../../../shared/domain/debits/exception.ts'
import type { ApiCall, BankQuery } from '../engine/observations.ts'
import { isAccepted, isRefused, isUnknown, membersOf, requestIdOf } from './calls.ts'
import { expectations, statuses } from './lifecycle.ts'
import type { DebitHistory } from './observation-index.ts'
import { movesTo } from './raw-items.ts'
import { type Check, type Checks, eachDebit, eachDebitUpdate } from './rules.ts'
import { pesewasOfFee } from './time-and-money.ts'

/** The reports of banks and the requests of providers about a debit, and their effects. */

const INVALID_TRANSITION = 3001

const reachedAt = ({ changes }: DebitHistory, status: unknown): number =>
  movesTo(changes, status)[0]?.at ?? Infinity

/** Returns the kinds of exception that the statuses until a time make of a report. */
const rejectionsOf = (debit: DebitHistory, report: unknown, at: number): ReportKind[] =>
  statuses
    .filter((status) => reachedAt(debit, status) <= at)
    .flatMap((status) => expectations[status].rejects[String(report)] ?? [])

const banksLearnOutcome: Check = ({ reports, byUuid }, report) => {
  for (const { call, uuid, status, code } of reports) {
    const debit = byUuid.get(uuid)
    const { reply } = call
    if (!debit || !reply || typeof status !== 'string') continue
    const about = debit.item.reference
    const approvedAt = debit.changes.find(({ after }) => after?.approval)?.at ?? Infinity
    const knownAt = status === 'approved' ? approvedAt : reachedAt(debit, status)
    if (isAccepted(call) && knownAt > reply.at)
      report(about, `its bank received ${status}, which it was not`)
    if (code === INVALID_TRANSITION && rejectionsOf(debit, status, reply.at).length === 0)
      report(about, `its bank was rejected, but ${status} was possible`)
  }
}

const repeatsChangeNothing: Check = (index, report) => {
  for (const { call, uuid, status, code } of index.reports) {
    const debit = index.byUuid.get(uuid)
    if (!debit) continue
    const { reference } = debit.item
    const writes = debit.changes.filter(({ by }) => by?.invocation === call.invocation)
    if (isRefused(call) && writes.length > 0)
      report(reference, `was changed, but its bank received ${call.reply?.status}`)
    const isSaid = writes.every(({ before, after }) =>
      status === 'approved' ? before?.status === after?.status : status === after?.status,
    )
    if (!isSaid) report(reference, `was changed, but its bank reported ${status}`)
    // It had the status from the call to the reply.
    const left = debit.changes.find(
      ({ before, after }) => before?.status === status && after && after.status !== status,
    )
    const isKept = (left?.at ?? Infinity) > (call.reply?.at ?? Infinity)
    if (reachedAt(debit, status) >= call.at || !isKept) continue
    if (code === INVALID_TRANSITION)
      report(reference, `was already ${status}, but its bank was rejected`)
    if (writes.length > 0) report(reference, `was already ${status}, but was written again`)
  }
}

const marksStay = eachDebitUpdate(({ before, after, sequence }) => {
  const isLasting =
    (before.approval === undefined || before.approval.rid === after.approval?.rid) &&
    (before.settledIn === undefined || before.settledIn === after.settledIn) &&
    (before.adjustedIn === undefined || before.adjustedIn === after.adjustedIn)
  return !isLasting && `change ${sequence} marks it again`
})

const REJECTED = new Set([400, 422])

/** The replies to queries that can contradict the recorded outcome. */
const OUTCOMES = new Set<BankQuery['answer']>(['completed', 'failed', 'rejected'])

const exceptionsAreComplete: Check = (index, report) => {
  const { reports, byUuid, exceptions, debits, queriesOf, bankPostsOf } = index
  const recordsOf = Map.groupBy(exceptions, ({ requestId }) => requestId)
  const answered = new Set<unknown>()
  for (const { call, bank, uuid, sent, status, code } of reports) {
    const debit = byUuid.get(uuid)
    const { reply } = call
    if (!reply || !REJECTED.has(reply.status) || debit?.item.bank.identifier !== bank) continue
    const requestId = requestIdOf(reply)
    answered.add(requestId)
    const records = recordsOf.get(String(requestId)) ?? []
    const [record] = records
    if (records.length !== 1) report(uuid, `has ${records.length} exceptions for a rejected report`)
    if (!record) continue
    const body = typeof call.sent === 'string' ? call.sent : JSON.stringify(sent)
    const rejections = code === INVALID_TRANSITION ? rejectionsOf(debit, status, reply.at) : []
    const [kind = 'refused_report'] = rejections
    if (record.report !== body) report(uuid, 'has an exception with another body')
    if (record.kind !== kind) report(uuid, `has an exception of kind ${record.kind}, not ${kind}`)
    if (record.code !== code) report(uuid, `has an exception of ${record.code}`)
  }
  for (const { reference, requestId, pk } of exceptions) {
    const debit = debits.get(reference)
    if (!debit || answered.has(requestId)) continue
    // A function that crashed after its write may have recorded one without a reply, or a query or submission found it.
    const unanswered = debit.exceptions.filter((one) => !answered.has(one.requestId))
    const unknown = reports.filter(({ uuid, call }) => uuid === debit.uuid && isUnknown(call))
    const found = queriesOf.get(debit.uuid)?.filter(({ answer }) => OUTCOMES.has(answer)) ?? []
    const rejected =
      bankPostsOf.get(debit.uuid)?.filter(({ verdict }) => verdict === 'rejected') ?? []
    if (unanswered.length > unknown.length + found.length + rejected.length)
      report(pk, 'has no report of a bank')
  }
}

const METHODS = new Set<unknown>(['ussd', 'mobile_api', 'web', 'mobile_app', null, undefined])
const METADATA_BYTES = 8_192

const isText = (value: unknown, max = Infinity): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= max

const isValidReport = ({ name, sent }: ApiCall): boolean => {
  const { status, fee, metadata, bank_reference, error_message, approval_method } = membersOf(sent)
  const isApproved = status === 'approved' && name === 'debit-callback'
  const isObject = typeof metadata === 'object' && !Array.isArray(metadata)
  return (
    (status === 'completed' || status === 'failed' || isApproved) &&
    isText(bank_reference, 255) &&
    (status !== 'failed' || isText(error_message)) &&
    METHODS.has(approval_method) &&
    (fee === null || fee === undefined || pesewasOfFee(fee) !== undefined) &&
    (metadata === undefined || isObject) &&
    JSON.stringify(metadata ?? {}).length <= METADATA_BYTES
  )
}

/** A report is rejected exactly if it breaks the published rules or loses. */
const onlyInvalidReportsAreRejected: Check = ({ reports, byUuid }, report) => {
  for (const { call, uuid, bank, code } of reports) {
    const isOwn = byUuid.get(uuid)?.item.bank.identifier === bank
    if (!isOwn || !call.reply || code === INVALID_TRANSITION) continue
    const isValid = isValidReport(call)
    if (isValid && REJECTED.has(call.reply.status)) report(uuid, `a valid report received ${code}`)
    if (!isValid && isAccepted(call)) report(uuid, 'an invalid report was accepted')
  }
}

/** The lifecycle of requests to reverse, independent of the product. */
const REQUESTED = 'completed'
const ACCEPTED = 'reversed'

const requestsAreStored: Check = ({ observations, setup, debits, requestsOf }, report) => {
  for (const { name, caller, path, reply } of setup.isRestored ? [] : observations.calls) {
    if (name !== 'request-reversal' || reply?.status !== 202) continue
    const reference = String(path.reference)
    const debit = debits.get(reference)?.item
    if (debit?.provider !== caller?.id) report(reference, `was requested by ${caller?.id}`)
    if (requestsOf.get(reference)?.length !== 1) report(reference, 'has no request, or several')
  }
}

const requestsBelongToTheirDebits = eachDebit(({ item, changes }, { requestsOf }) => {
  const requests = requestsOf.get(item.reference) ?? []
  const [request] = requests
  const isOther = requests.length > 1 || request?.requestId !== item.reversalRequest?.rid
  const { status } =
    changes.find(({ before, after }) => !before?.reversalRequest && after?.reversalRequest)
      ?.after ?? {}
  const isReversed = item.status === ACCEPTED
  return [
    isOther && `names the request ${item.reversalRequest?.rid} of ${requests.length}`,
    request && status && status !== REQUESTED && `was requested as ${status}`,
    request && !request.resolvedAt && isReversed && 'has an open request',
    request?.isAccepted && !isReversed && 'was not reversed',
  ]
})

/** A reversal decides an open request in its own transaction. Only a note declines one. */
const requestsAreDecidedOnce: Check = ({ setup, exceptionChanges, debits }, report) => {
  for (const { before, after, transaction } of setup.isRestored ? [] : exceptionChanges) {
    if (after?.kind !== 'reversal_request' || before?.resolvedAt === after.resolvedAt) continue
    const { reference, isAccepted } = after
    const isReversed = debits
      .get(reference)
      ?.changes.some((step) => step.transaction === transaction && step.after?.status === ACCEPTED)
    if (before?.resolvedAt) report(reference, 'has a second decision')
    if (after.resolvedAt && isAccepted !== isReversed)
      report(reference, `is ${isAccepted ? 'accepted' : 'declined'} against its reversal`)
  }
}

export const checks: Checks = {
  6: [banksLearnOutcome],
  7: [repeatsChangeNothing, marksStay],
  31: [exceptionsAreComplete, onlyInvalidReportsAreRejected],
  69: [requestsAreStored, requestsBelongToTheirDebits, requestsAreDecidedOnce],
}
