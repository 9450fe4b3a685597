import type { Books, DebitBook } from './debit-histories.ts'
import type { Check, Complain } from './invariant.ts'
import { isAccepted, isRefused, isUnknown, membersOf, requestIdOf } from './reply.ts'
import { type BankReport, isReporting } from './report-book.ts'

/** 6, 7, 31: what banks reported, and what became of it. */

const INVALID_TRANSITION = 3001

/** When a debit came to a status, by the write of it; undefined: never. */
const cameTo = ({ changes }: DebitBook, status: string): number | undefined =>
  changes.find(({ before, after }) => after?.status === status && before?.status !== status)?.at

/** What a report loses to. */
const RIVALS: Record<string, readonly string[]> = {
  completed: ['failed', 'reversed'],
  failed: ['completed'],
  approved: ['completed', 'failed'],
}

/** 6: who is told yes has won, or came after one who said the same; who is told no has lost. */
export const isToldWhoWon: Check = ({ reports, byUuid }, complain) => {
  for (const { asked, uuid, status, code } of reports) {
    const debit = byUuid.get(uuid)
    const { reply } = asked
    if (!debit || !reply || typeof status !== 'string') continue
    const hadCome = (to: string): boolean => (cameTo(debit, to) ?? Infinity) <= reply.at
    const about = debit.item.reference
    if (isAccepted(asked) && status !== 'approved' && !hadCome(status)) {
      complain(about, `its bank was told that it is ${status}`)
    }
    if (code === INVALID_TRANSITION && !RIVALS[status]?.some(hadCome)) {
      complain(about, `its bank was told that it cannot be ${status}`)
    }
  }
}

/** 7: who says the same again is told yes, and nothing is written. */
export const isUnchanged: Check = (books, complain) => {
  for (const report of books.reports) {
    const debit = books.byUuid.get(report.uuid)
    if (!debit) continue
    const { asked, status, code } = report
    if (isRefused(asked) && writtenBy(report, debit, books) > 0) {
      complain(debit.item.reference, `was changed, and its bank was told ${asked.reply?.status}`)
    }
    if (!isRepeat(report, debit)) continue
    if (code === INVALID_TRANSITION) {
      complain(debit.item.reference, `was ${status} already, and its bank was refused`)
    }
    if (writtenBy(report, debit, books) > 0) {
      complain(debit.item.reference, `was ${status} already, and is written again`)
    }
  }
  for (const [reference, { changes }] of books.debits) {
    for (const { before, after, by, sequence } of changes) {
      if (!before || !after) continue
      const isLasting =
        (before.approval === undefined || before.approval.rid === after.approval?.rid) &&
        (before.settledIn === undefined || before.settledIn === after.settledIn) &&
        (before.adjustedIn === undefined || before.adjustedIn === after.adjustedIn)
      if (!isLasting) complain(reference, `change ${sequence} marks it a second time`)
      if (isReporting(by?.name)) judgeReported(books, { sequence, before, after, by }, complain)
    }
  }
}

const writtenBy = ({ asked }: BankReport, { item }: DebitBook, { byInvocation }: Books): number =>
  (asked.invocation === undefined ? [] : (byInvocation.get(asked.invocation) ?? [])).filter(
    ({ after }) => after?.pk === item.pk && after.sk === item.sk,
  ).length

/** Whether it had come to that status before it was asked, and was there until the reply. */
const isRepeat = ({ asked, status }: BankReport, debit: DebitBook): boolean => {
  if (status !== 'completed' && status !== 'failed') return false
  const since = cameTo(debit, status)
  const left = cameTo(debit, 'reversed') ?? Infinity
  return since !== undefined && since < asked.at && left > (asked.reply?.at ?? Infinity)
}

type Reported = Pick<DebitBook['changes'][number], 'sequence' | 'before' | 'after' | 'by'>

/** What a report writes is what it said. */
const judgeReported = ({ askedBy }: Books, change: Reported, complain: Complain): void => {
  const { before, after, by, sequence } = change
  const asked = by && askedBy.get(by.invocation)
  if (!asked || !before || !after) return
  const { status } = membersOf(asked.sent)
  const isSaid = status === 'approved' ? before.status === after.status : status === after.status
  if (!isSaid) complain(after.reference, `change ${sequence} is not what its bank said`)
}

const REJECTED = new Set([400, 422])

/** 31: each rejected report of the owning bank has one exception, with the body that was sent. */
export const isOnRecord: Check = (books, complain) => {
  const recordsOf = Map.groupBy(books.exceptions, ({ requestId }) => requestId)
  const answered = new Set<unknown>()
  for (const report of books.reports) {
    const { asked, bank, uuid, sent } = report
    const debit = books.byUuid.get(uuid)
    const isOwn = debit?.item.bank.identifier === bank
    if (!debit || !isOwn || !asked.reply || !REJECTED.has(asked.reply.status)) continue
    const requestId = requestIdOf(asked.reply)
    answered.add(requestId)
    const records = recordsOf.get(String(requestId)) ?? []
    const [record] = records
    if (records.length !== 1) complain(uuid, `has ${records.length} records of a rejected report`)
    if (!record) continue
    if (record.report !== JSON.stringify(sent)) complain(uuid, 'has a record of another body')
    const kind = kindOf(report, debit)
    if (record.kind !== kind) complain(uuid, `has a record of ${record.kind}, not of ${kind}`)
  }
  for (const record of books.exceptions) {
    const debit = books.debits.get(record.reference)
    const isOfDebit =
      record.amount === debit?.item.amount &&
      record.provider === debit?.item.provider &&
      record.bank === debit?.item.bank.identifier
    if (!isOfDebit) complain(record.pk, 'is not of its debit')
    if (answered.has(record.requestId) || !debit) continue
    if (!mayBeUnanswered(books, debit, answered)) complain(record.pk, 'has no report of a bank')
  }
}

const kindOf = ({ asked, status, code }: BankReport, debit: DebitBook): string => {
  const had = (to: string): boolean => (cameTo(debit, to) ?? Infinity) <= (asked.reply?.at ?? 0)
  if (code !== INVALID_TRANSITION) return 'refused_report'
  if (status === 'completed' && had('failed')) return 'late_completion'
  return status === 'failed' && had('completed') ? 'contradiction' : 'refused_report'
}

/** A function that ended after it wrote the record gave no answer: one record each. */
const mayBeUnanswered = (
  { reports }: Books,
  { item: { uuid }, exceptions }: DebitBook,
  answered: ReadonlySet<unknown>,
): boolean => {
  const unanswered = exceptions.filter(({ requestId }) => !answered.has(requestId)).length
  return unanswered <= reports.filter((one) => one.uuid === uuid && isUnknown(one.asked)).length
}
