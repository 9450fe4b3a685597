import type { BookEntry } from '../engine/observations.ts'
import { type Members, membersOf } from './calls.ts'
import { owedFor } from './ledger.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { movesTo, type RawFunding } from './raw-items.ts'
import { type Check, type Checks, eachBatch, eachDebit } from './rules.ts'
import { DAY_MS, inGhs } from './time-and-money.ts'

/** The banks' own books agree with the table to the pesewa. */

const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0)

const booked = (entries: readonly BookEntry[] = []) => sum(entries.map(({ amount }) => amount))

/** Reports whether a bank reported a failure, or an operator recorded a debit that it did not make. */
const isDisputed = (
  { uuid: own, item: { reference } }: DebitHistory,
  { reports, operatorCalls }: ObservationIndex,
): boolean =>
  reports.some(({ uuid, status }) => uuid === own && status === 'failed') ||
  operatorCalls.some(({ verb, options }) => verb === 'complete' && options.reference === reference)

/** Reports whether a refund was opened or sent while a contradiction of its debit was undecided. */
const isOrderedAgainst = (
  { item, uuid, exceptions }: DebitHistory,
  { refunds, refundPosts, setup: { skew } }: ObservationIndex,
): boolean =>
  [
    ...movesTo(refunds.get(item.reference)?.changes ?? [], 'pending'),
    ...refundPosts.filter(({ body }) => body.debit_uuid === uuid),
  ].some(({ at, since }) =>
    exceptions.some(
      ({ kind, at: reportedAt, resolvedAt = '' }) =>
        kind === 'contradiction' &&
        Date.parse(reportedAt) < since - 2 * skew &&
        !(Date.parse(resolvedAt) < at + skew),
    ),
  )

/** A bank returns at most what it debited, unless it had reported a debit that it did not make. */
const refundsAreCovered: Check = (index, report) => {
  for (const [uuid, entries] of index.booksOf) {
    const type = entries[0]?.type
    if (type !== 'debit' && type !== 'refund') continue
    const debit = index.byUuid.get(uuid)
    const isWord = debit !== undefined && isDisputed(debit, index)
    // An operator can record a debit that the bank makes after its refund.
    if (booked(entries) >= 0 && (type === 'debit' || isWord)) continue
    const isMisled = isWord && entries.length === 1 && !isOrderedAgainst(debit, index)
    if (!isMisled) report(uuid, `its bank returned ${inGhs(-booked(entries))} too much`)
  }
}

const INVALID_TRANSITION = 3001

/** Reports whether the service has replied that it knows of the completion, or has read it from the bank. */
const isLearned = (
  { uuid: own }: DebitHistory,
  { reports, queriesOf, observations: { invocations } }: ObservationIndex,
): boolean =>
  reports
    .filter(({ uuid, status }) => uuid === own && status === 'completed')
    .some(({ call, code }) => code === INVALID_TRANSITION || call.reply?.status === 200) ||
  (queriesOf.get(own) ?? []).some(
    ({ answer, isHeard, by = 0 }) =>
      answer === 'completed' && isHeard && invocations.get(by)?.isFinished,
  )

/** A bank has of each debit what it owes by the table; the open cases are what they are. */
const booksMatchDebits = eachDebit((debit, index) => {
  const { item, uuid, exceptions } = debit
  const entries = index.booksOf.get(uuid) ?? []
  const [held, owed] = [booked(entries), owedFor(debit, index)]
  if (held === owed || !index.setup.endpoints.includes(item.bank.identifier)) return undefined
  const isNoted = exceptions.some((one) => one.kind === 'late_completion' && one.resolvedAt)
  const isUndebited = entries[0]?.type !== 'debit' && isDisputed(debit, index)
  const refund = index.refunds.get(item.reference)?.item.status
  const isMade = index.refundPosts.some(
    ({ body, verdict }) => body.debit_uuid === uuid && verdict === 'paid',
  )
  const isUnderway = refund === 'processing' || (refund === 'failed' && isMade)
  const isOpen = held < owed ? isUnderway || isUndebited : isNoted || !isLearned(debit, index)
  return !isOpen && `its bank has ${inGhs(held)}, but owes ${inGhs(owed)} by the table`
})

type Movement = { reference: string; uuid: string; completed_at: string | null }

const movementsIn = ({ debits }: Members): readonly Movement[] =>
  Array.isArray(debits) ? debits : []

/** A statement is compared only with money that a bank moved, never with an unbooked debit or a waived refund. */
const statementsMatchBooks: Check = (index, report) => {
  for (const { verb, result, call } of index.operatorCalls) {
    const isCompared = verb === 'statement' && call.at >= index.setup.endedAt - DAY_MS
    for (const { reference, uuid, completed_at } of isCompared ? movementsIn(result) : []) {
      const debit = index.byUuid.get(uuid)
      if (!debit || completed_at === null) continue
      const isMade = index.booksOf.get(uuid)?.[0]?.type === 'debit'
      const isWaived = index.refunds.get(reference)?.item.status === 'waived'
      if (isWaived || !(isMade || isDisputed(debit, index)))
        report(reference, 'is compared with a statement, but its bank moved no money')
    }
  }
}

/** The banks paid each batch what the table says. The reconciliation compares the sums (47). */
const payoutsMatchBooks = eachBatch(({ item: { id, status, paid }, changes }, index) => {
  const made = -booked(index.booksOf.get(id))
  const due = status === 'completed' ? (paid ?? 0) : 0
  // A bank may pay what it rejects.
  const isOpen = (status === 'processing' || status === 'failed') && made === paid
  // A payout that a restore undid waits for a working day.
  const undone = changes.findLast(({ before, after }) => before?.paid != null && !after?.paid)
  const waits = status === 'pending' && index.setup.workingBanks.length > 0
  const isUndone = waits && index.setup.isRestored && made === undone?.before?.paid
  return made !== due && !isOpen && !isUndone && `its bank paid ${inGhs(made)}, not ${inGhs(due)}`
})

/** The recorded remittances are those of the banks, and cash what payouts leave of them. */
const cashMatchesBooks: Check = (index, report) => {
  const { observations, setup, batches, cashChanges, callBy } = index
  const { items, books } = observations
  const fundings = items.filter(({ pk }) => pk === 'FUNDING') as RawFunding[]
  const amountOf = ({ amount, corrections }: RawFunding) => corrections?.at(-1)?.amount ?? amount
  const taken = [...batches.values()].map(({ item: { status, paid } }) =>
    status === 'processing' || status === 'completed' ? (paid ?? 0) : 0,
  )
  const cash = items.find(({ pk }) => pk === 'FUNDS')?.cash ?? 0
  const rest = sum(fundings.map(amountOf)) - sum(taken)
  if (cash !== rest) report('cash', `is ${cash}, but remittances less payouts are ${rest}`)
  for (const { type, bank, of, amount, at } of books) {
    // A second operator may deny a record; its correction may take a day.
    if (type !== 'remittance' || setup.approvals || setup.endedAt - at < DAY_MS) continue
    const recorded = fundings.find((one) => one.bank === bank && one.reference === of)
    const isSame = recorded && amountOf(recorded) === -amount
    if (!isSame) report(`${bank} ${of}`, `is not recorded as ${inGhs(-amount)}`)
  }
  for (const { before, after, by, sequence } of setup.waitsForFunding ? cashChanges : []) {
    const left = after?.cash ?? 0
    // A payout that a bank made outside the service took its cash already.
    const { verb } = membersOf(callBy.get(by?.invocation ?? 0)?.sent)
    const isRecord = by?.name === 'manage-funding' || verb === 'complete'
    if (!isRecord && left < Math.min(0, before?.cash ?? 0))
      report(`change ${sequence}`, 'pays more than the cash')
  }
}

export const checks: Checks = {
  25: [payoutsMatchBooks],
  52: [refundsAreCovered],
  53: [booksMatchDebits, statementsMatchBooks],
  54: [cashMatchesBooks],
}
