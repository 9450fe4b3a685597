import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { BookEntry } from '../engine/observations.ts'
import type { Check, DebitHistory, ObservationIndex } from './observation-index.ts'
import { DAY_MS, inGhs, startOf } from './time-and-money.ts'

/** 52 to 54: the banks' own books agree with the table to the pesewa. */

const sum = (amounts: readonly number[]): number =>
  amounts.reduce((total, amount) => total + amount, 0)

const booked = (entries: readonly BookEntry[], type: BookEntry['type']): number =>
  sum(entries.filter((entry) => entry.type === type).map(({ amount }) => amount))

/** Reports whether a bank reported a failure, or an operator recorded a debit that it did not make. */
const isDisputed = (
  { uuid: own, item }: DebitHistory,
  { reports, operatorCalls }: ObservationIndex,
): boolean =>
  reports.some(({ uuid, status }) => uuid === own && status === 'failed') ||
  operatorCalls.some(
    ({ verb, options }) => verb === 'complete' && options.reference === item.reference,
  )

/** Reports whether a refund was opened while a contradiction of its debit was undecided. */
const isOpenedAgainst = (
  { item, exceptions }: DebitHistory,
  { refunds, startOf, observations: { setup } }: ObservationIndex,
): boolean =>
  (refunds.get(item.reference)?.changes ?? []).some(({ before, after, at, by }) => {
    const isOpened = after?.status === 'pending' && before?.status !== 'pending'
    const knownAt = startOf(by?.invocation, at) - 2 * setup.skew
    return exceptions.some(
      (one) =>
        isOpened &&
        one.kind === 'contradiction' &&
        Date.parse(one.at) < knownAt &&
        !(one.resolvedAt && Date.parse(one.resolvedAt) < at + setup.skew),
    )
  })

/** 52: a bank returns at most what it debited, unless it had reported a debit that it did not make. */
export const refundsAreCovered: Check = (index, report) => {
  for (const [uuid, entries] of index.booksOf) {
    const debited = booked(entries, 'debit')
    const returned = booked(entries, 'refund')
    if (returned <= debited) continue
    const debit = index.byUuid.get(uuid)
    const isMisled = debit && debited === 0 && returned === debit.item.amount
    if (!isMisled || !isDisputed(debit, index) || isOpenedAgainst(debit, index)) {
      report(uuid, `its bank returned ${inGhs(returned)} of ${inGhs(debited)}`)
    }
  }
}

/** Returns what the bank of a debit owes by the table, from the facts before an instant. */
const owedFor = (
  { item, entries, exceptions }: DebitHistory,
  { refunds, refundFailures }: ObservationIndex,
  end = Number.POSITIVE_INFINITY,
): number => {
  const isPast = (at: string | null | undefined): boolean =>
    Boolean(at) && Date.parse(at ?? '') < end
  const refund = refunds.get(item.reference)?.item
  const late = exceptions.filter(({ kind }) => kind === 'late_completion')
  const [noted] = late.flatMap(({ resolvedAt = [] }) => resolvedAt).toSorted()
  const isNote = noted !== undefined && !(refund && refund.createdAt <= noted)
  const isRepaid =
    refund?.status === 'failed' && isPast(refundFailures.get(refund.uuid)?.resolvedAt)
  const collected = [
    entries.some(({ type, at }) => type === 'completed' && at < end),
    late.some(({ at }) => isPast(at)),
  ]
  const returned = [
    isNote && isPast(noted) && !isPast(refund?.createdAt),
    isPast(refund?.completedAt) || isRepaid,
  ]
  const count = (facts: boolean[]): number => facts.filter(Boolean).length
  return item.amount * (count(collected) - count(returned))
}

/** Reports whether the service has answered that it knows of the completion, or recorded it. */
const isLearned = ({ uuid: own }: DebitHistory, { reports }: ObservationIndex): boolean =>
  reports.some(
    ({ uuid, status, call, code }) =>
      uuid === own &&
      status === 'completed' &&
      (code === INVALID_TRANSITION || call.reply?.status === 200),
  )

const INVALID_TRANSITION = 3001

/** 53: a bank has of each debit what it owes by the table; the open cases are what they are. */
export const booksMatchDebits: Check = (index, report) => {
  for (const [reference, debit] of index.debits) {
    const { item, uuid } = debit
    if (!index.observations.setup.endpoints.includes(item.bank.identifier)) continue
    const entries = index.booksOf.get(uuid) ?? []
    const debited = booked(entries, 'debit')
    const held = debited - booked(entries, 'refund')
    const owed = owedFor(debit, index)
    const { status } = index.refunds.get(reference)?.item ?? {}
    const isNoted = debit.exceptions.some((one) => one.kind === 'late_completion' && one.resolvedAt)
    const isOpen =
      held < owed
        ? status === 'processing' || (debited === 0 && isDisputed(debit, index))
        : !isLearned(debit, index) || isNoted
    if (held !== owed && !isOpen) {
      report(reference, `its bank has ${inGhs(held)}, but owes ${inGhs(owed)} by the table`)
    }
  }
}

/** 54: the stored balances are what the banks owe and paid by the end of their day. */
export const balancesMatchBooks: Check = (index, report) => {
  const { observations, debits, batches } = index
  const debitsOf = Map.groupBy(debits.values(), ({ item }) => item.bank.identifier)
  const ledger = observations.items.filter(({ pk }) => pk === 'LEDGER')
  for (const { day, run, balances } of ledger) {
    if (!day) continue
    const end = startOf(String(day)) + DAY_MS
    const pages = ledger.filter(({ sk }) => String(sk).startsWith(`PAGE#${run}/`))
    const stored: Record<string, number> = Object.assign(
      {},
      ...[balances, ...pages.map((page) => page.balances)],
    )
    const paid = [...batches.values()].flatMap(({ item: { completedAt, paid } }) =>
      completedAt && Date.parse(completedAt) < end ? [paid ?? 0] : [],
    )
    const expected = Object.fromEntries(
      observations.setup.banks.map((bank) => [
        `bank_receivable:${bank}`,
        sum((debitsOf.get(bank) ?? []).map((debit) => owedFor(debit, index, end))),
      ]),
    )
    for (const [account, amount] of Object.entries({ ...expected, cash: -sum(paid) })) {
      const balance = stored[account] ?? 0
      if (balance !== amount) report(`${account} of ${day}`, `is ${balance}, not ${amount}`)
    }
  }
}

/** 25: the banks paid each batch what the table says. The reconciliation compares the sums (47). */
export const payoutsMatchBooks: Check = ({ batches, booksOf }, report) => {
  for (const [id, { item }] of batches) {
    const made = booked(booksOf.get(id) ?? [], 'payout')
    const due = item.status === 'completed' ? (item.paid ?? 0) : 0
    const isOpen = item.status === 'processing' && made === item.paid
    if (made !== due && !isOpen) report(id, `its bank paid ${inGhs(made)}, not ${inGhs(due)}`)
  }
}

type RawFunding = Item & {
  bank: string
  reference: string
  amount: number
  corrections?: readonly { amount: number }[]
}

/** Within it, an operator compares the recorded remittances with those of the banks. */
const COMPARED_MS = DAY_MS

/** 54: the recorded remittances are those of the banks, and cash what payouts leave of them. */
export const cashMatchesBooks: Check = ({ observations, batches, cashChanges }, report) => {
  const { setup, items, books } = observations
  const fundings = items.filter(({ pk }) => pk === 'FUNDING') as RawFunding[]
  const amountOf = ({ amount, corrections }: RawFunding) => corrections?.at(-1)?.amount ?? amount
  const taken = [...batches.values()].map(({ item: { status, paid } }) =>
    status === 'processing' || status === 'completed' ? (paid ?? 0) : 0,
  )
  const cash = items.find(({ pk }) => pk === 'FUNDS')?.cash ?? 0
  const rest = sum(fundings.map(amountOf)) - sum(taken)
  if (cash !== rest) report('cash', `is ${cash}, but remittances less payouts are ${rest}`)
  for (const { type, bank, of, amount, at } of books) {
    // A second operator may deny a record or its correction.
    if (type !== 'remittance' || setup.approvals || setup.endedAt - at < COMPARED_MS) continue
    const recorded = fundings.find((one) => one.bank === bank && one.reference === of)
    const isSame = recorded && amountOf(recorded) === amount
    if (!isSame) report(`${bank} ${of}`, `is not recorded as ${inGhs(amount)}`)
  }
  for (const { before, after, by, sequence } of setup.waitsForFunding ? cashChanges : []) {
    const left = after?.cash ?? 0
    const isTaken = by?.name !== 'manage-funding' && left < (before?.cash ?? 0)
    if (isTaken && left < 0) report(`change ${sequence}`, 'pays more than the cash')
  }
}
