import type { Books, DebitBook } from './books.ts'
import type { Check, Complain } from './invariant.ts'
import { type BankReport, isReporting } from './report-book.ts'
import { isAccepted, isRefused, isUnknown, membersOf, requestIdOf } from './said.ts'

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

/** 31: each completion that came after the failure is on record once, and no other. */
export const isKeptWhenLate: Check = (books, complain) => {
  const late = books.reports.filter(
    ({ status, code, uuid, asked: { reply } }) =>
      status === 'completed' &&
      code === INVALID_TRANSITION &&
      (cameTo(books.byUuid.get(uuid) ?? NONE, 'failed') ?? Infinity) <= (reply?.at ?? 0),
  )
  const kept = Map.groupBy(books.lates, ({ requestId }) => requestId)
  const told = new Set<unknown>()
  for (const { asked, uuid, sent } of late) {
    const requestId = asked.reply && requestIdOf(asked.reply)
    told.add(requestId)
    const records = kept.get(String(requestId)) ?? []
    if (records.length !== 1) complain(uuid, `was completed late, and ${records.length} say so`)
    if (records[0] && records[0].bankReference !== sent.bank_reference) {
      complain(uuid, 'was completed late under another reference')
    }
  }
  for (const record of books.lates) {
    const debit = books.debits.get(record.reference)
    const isOfDebit =
      debit?.item.status === 'failed' &&
      record.amount === debit.item.amount &&
      record.partner === debit.item.partner &&
      record.bank === debit.item.bank.identifier
    if (!isOfDebit) complain(record.pk, 'is not what became of its debit')
    if (told.has(record.requestId) || !debit) continue
    if (!mayBeUntold(books, debit)) complain(record.pk, 'was kept, and no bank said it')
  }
}

const NONE: DebitBook = {
  item: {} as DebitBook['item'],
  entries: [],
  createdAt: 0,
  changes: [],
  lines: [],
  lates: [],
}

/** Whose function died after it had kept the record, was not told. One record for each of them. */
const mayBeUntold = ({ reports }: Books, { item: { uuid }, lates }: DebitBook): boolean => {
  const ofDebit = reports.filter((one) => one.uuid === uuid && one.status === 'completed')
  const told = new Set(ofDebit.map(({ asked: { reply } }) => reply && requestIdOf(reply)))
  const untold = lates.filter(({ requestId }) => !told.has(requestId)).length
  return untold <= ofDebit.filter(({ asked }) => isUnknown(asked)).length
}
