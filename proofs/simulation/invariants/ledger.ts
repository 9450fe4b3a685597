import type { OperatorCall } from './calls.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { daysOf } from './payout-days.ts'
import type { RawFunding } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { DAY_MS, inGhs, MINUTE_MS, pesewasOf, startOf } from './time-and-money.ts'

/** The ledger by its published rules, from the facts of debits and batches, and the closings of days. */

/** Money that a bank moved has a kind: the name of its sum in a closing. */
type Posting = { at: number; debit: string; credit: string; amount: number; kind?: string }

const RECEIVABLE = 'bank_receivable:'
const PAYABLE = 'provider_payable:'
const REFUNDS = 'refunds_payable'
const UNDECIDED = 'exceptions'

const timeIn = (at: string | null | undefined): number => (at ? Date.parse(at) : Infinity)

function* postingsOf(debit: DebitHistory, index: ObservationIndex): Generator<Posting> {
  const { item, entries, exceptions, lines } = debit
  const { amount } = item
  const [bank, provider] = [RECEIVABLE + item.bank.identifier, PAYABLE + item.provider]
  const completedAt = entries.find(({ type }) => type === 'completed')?.at ?? Infinity
  yield { at: completedAt, debit: bank, credit: provider, amount, kind: 'debits' }
  const late = exceptions.filter(({ kind }) => kind === 'late_completion')
  const reportedAt = Math.min(...late.map(({ at }) => timeIn(at)))
  yield { at: reportedAt, debit: bank, credit: UNDECIDED, amount, kind: 'debits' }
  const refund = index.refunds.get(item.reference)?.item
  const [openedAt, paidAt] = [timeIn(refund?.createdAt), timeIn(refund?.completedAt)]
  // A note leaves the money with the customer, unless a refund follows.
  const notedAt = Math.min(...late.map(({ resolvedAt }) => timeIn(resolvedAt)))
  const isNoted = notedAt < openedAt
  if (isNoted) yield { at: Math.max(notedAt, reportedAt), debit: UNDECIDED, credit: bank, amount }
  for (const { item: line, batch } of lines) {
    const at = timeIn(index.batches.get(batch)?.item.sealedAt)
    yield { at, debit: provider, credit: 'fee_income', amount: line.fee }
  }
  if (!refund) return
  const debited = isNoted ? bank : UNDECIDED
  const opening = { debit: refund.origin === 'reversal' ? provider : debited, amount }
  // The bank never had the money of a reversal without a refund.
  if (refund.status === 'waived') return yield { at: openedAt, ...opening, credit: bank }
  yield { at: openedAt, ...opening, credit: REFUNDS }
  const repaid = refund.status === 'failed' ? index.refundFailures.get(refund.uuid) : undefined
  yield { at: timeIn(repaid?.resolvedAt), debit: REFUNDS, credit: bank, amount }
  yield { at: paidAt, debit: REFUNDS, credit: bank, amount, kind: 'refunds' }
}

export const postingsIn = (index: ObservationIndex): Posting[] => [
  ...[...index.debits.values()].flatMap((debit) => [...postingsOf(debit, index)]),
  ...[...index.batches.values()].map(({ item: { completedAt, paid, paidTo, provider } }) => {
    const [debit, kind] = [PAYABLE + provider, `payouts ${paidTo?.bank}`]
    return { at: timeIn(completedAt), debit, credit: 'cash', amount: paid ?? 0, kind }
  }),
]

export const balancesOf = (postings: Iterable<Posting>, end: number): Map<string, number> => {
  const balances = new Map<string, number>()
  for (const { at, debit, credit, amount } of postings) {
    if (at >= end) continue
    balances.set(debit, (balances.get(debit) ?? 0) + amount)
    balances.set(credit, (balances.get(credit) ?? 0) - amount)
  }
  return balances
}

/** Returns what the bank of a debit owes by the table. */
export const owedFor = (debit: DebitHistory, index: ObservationIndex): number =>
  balancesOf(postingsOf(debit, index), Infinity).get(RECEIVABLE + debit.item.bank.identifier) ?? 0

/** The stored balances are those of the facts before the end of their day, without remittances. */
const storedBalancesAreRight: Check = (index, report) => {
  const ledger = index.observations.items.filter(({ pk }) => pk === 'LEDGER')
  const postings = postingsIn(index)
  for (const { day, run, balances } of ledger.filter(({ day }) => day)) {
    const pages = ledger.filter(({ sk }) => String(sk).startsWith(`PAGE#${run}/`))
    const all = [balances, ...pages.map((page) => page.balances)]
    const stored: Record<string, number> = Object.assign({}, ...all)
    const due = balancesOf(postings, startOf(String(day)) + DAY_MS)
    for (const account of new Set([...due.keys(), ...Object.keys(stored)])) {
      const [one = 0, other = 0] = [stored[account], due.get(account)]
      if (one !== other) report(`${account} on ${day}`, `is ${other}, but stored as ${one}`)
    }
  }
}

/** Returns the remittances that were recorded by an instant, and their corrections. */
const remittancesBy = ({ observations }: ObservationIndex, known: number): Posting[] =>
  (observations.items.filter(({ pk }) => pk === 'FUNDING') as RawFunding[]).flatMap(
    ({ bank, recordedAt, amount: first, date, corrections = [] }) => {
      const made = [{ at: recordedAt, amount: first }, ...corrections]
      return made.flatMap(({ at: madeAt, amount }, n) => {
        const at = n === 0 ? startOf(date) : Math.max(Date.parse(madeAt), startOf(date))
        const change = amount - (made[n - 1]?.amount ?? 0)
        const posting = { debit: 'cash', credit: RECEIVABLE + bank, kind: 'remitted' }
        return Date.parse(madeAt) < known ? { at, amount: change, ...posting } : []
      })
    },
  )

/** Distributes a debt over the days on which it arose; a payment covers the oldest. */
const agesOf = (debt: number, changes: readonly number[]): string => {
  let rest = Math.max(debt, 0)
  const shares = changes.map((change) => {
    const share = Math.min(Math.max(change, 0), rest)
    rest -= share
    return share
  })
  return [...shares, rest].map(inGhs).join()
}

const KINDS = ['debits', 'refunds', 'payouts'] as const

/** Returns the lines of the closing of a day, as it must be. */
const closingOf = (
  date: string,
  { known, postings }: { known: number; postings: readonly Posting[] },
  index: ObservationIndex,
): string[] => {
  const { observations, setup, batches } = index
  const end = startOf(date) + DAY_MS
  const all = [...postings, ...remittancesBy(index, known)]
  const closing = balancesOf(all, end)
  const before = [0, 1, 2, 3].map((n) => balancesOf(postings, end - n * DAY_MS))
  const stateOf = (account: string) => {
    const [balance = 0, past] = [closing.get(account), before.map((one) => one.get(account) ?? 0)]
    const changes = past.slice(0, 3).map((one, n) => one - (past[n + 1] ?? 0))
    return { balance, ages: agesOf(balance, changes) }
  }
  const ofBanks = setup.banks.flatMap((bank) => {
    const account = RECEIVABLE + bank
    const moved = [...KINDS, 'remitted'].map((name) => {
      const own = all.filter(({ at, debit, credit, kind }) => {
        const isOwn = kind === name && (debit === account || credit === account)
        return at < end && at >= end - DAY_MS && (isOwn || kind === `${name} ${bank}`)
      })
      return inGhs(own.reduce((sum, { amount }) => sum + amount, 0))
    })
    const kinds = KINDS.filter((_, n) => moved[n] !== '0.00')
    const { balance, ages } = stateOf(account)
    const line = [bank, ...moved, inGhs(balance), ages].join(' ')
    return kinds.length > 0 ? [line, `statement ${bank}: ${kinds.join(', ')}`] : line
  })
  const owing = setup.providers.flatMap(({ id }) => {
    const { balance, ages } = stateOf(PAYABLE + id)
    return balance > 0 ? `${id} owes ${inGhs(-balance)} ${ages}` : []
  })
  const unpaid = [...batches.values()].flatMap(({ changes }) => {
    const batch = changes.findLast(({ at }) => at <= known)?.after
    if (!batch || batch.date > date || batch.completedAt) return []
    const isWaiting = batch.status === 'pending' && batch.totals !== null
    const isPayout = isWaiting && (batch.totals?.net ?? 0) >= 0
    const isDue = isPayout && String(daysOf(index, batch, [known, known])[0]) <= date
    return isDue || !isWaiting ? `batch ${batch.id}` : []
  })
  const exceptions = observations.items.flatMap(({ entity, at, reference, resolvedAt }) => {
    const isOpen = timeIn(resolvedAt as string | undefined) > known && Date.parse(`${at}`) < end
    return entity === 'exception' && isOpen ? `exception ${reference}` : []
  })
  return [...ofBanks, ...owing, ...unpaid, ...exceptions]
}

type Row = Record<string, unknown>

const linesIn = ({ banks, owing, open }: OperatorCall['result']): string[] => {
  const agesIn = ({ ages }: Row) => Object.values(ages as object).join()
  const amounts = ['bank', ...KINDS, 'remitted', 'receivable']
  return [
    ...(banks as Row[]).map((row) => [...amounts.map((name) => row[name]), agesIn(row)].join(' ')),
    ...(owing as Row[]).map((row) => `${row.provider} owes ${row.balance} ${agesIn(row)}`),
    ...(open as Row[]).map(({ check, subject, reason }) =>
      check === 'statement'
        ? `statement ${subject}: ${/moved ([a-z, ]+), but/.exec(String(reason))?.[1]}`
        : `${check} ${subject}`,
    ),
  ]
}

/** The reconciliation is a call of its own; a bank without movements may be left out. */
const LEFT_OUT = /^reconciliation |^\w+(?: 0\.00){5} 0\.00,0\.00,0\.00,0\.00$/

/** The closing of a day has the money that moved, who owes it since when, and what operators must do. */
const closingsAreRight: Check = (index, report) => {
  const postings = postingsIn(index)
  for (const { noun, call, options, result } of index.operatorCalls) {
    const { at, reply } = call
    const from = at - 2 * index.setup.skew - MINUTE_MS
    const until = reply?.at ?? 0
    // What changes during the call may be shown before or after.
    const isMoving = index.observations.changes.some(
      ({ at, after }) =>
        at > from && at < until && /^(?:batch|exception|funding)$/.test(`${after?.entity}`),
    )
    const isDeclared = [...index.batches.values()].some(
      ({ item }) => item.payOn && daysOf(index, item, [from, until]).length > 1,
    )
    if (noun !== 'day' || !result.open || isMoving || isDeclared) continue
    const date = String(options.date)
    const [shown, due] = [
      new Set(linesIn(result)),
      new Set(closingOf(date, { known: at, postings }, index)),
    ]
    // Of many exceptions, the others are counted.
    const isCounted = [...shown].some((line) => /^exception \d+$/.test(line))
    for (const line of shown.symmetricDifference(due))
      if (!LEFT_OUT.test(line) && !(isCounted && line.startsWith('exception ')))
        report(`the closing of ${date}`, `${due.has(line) ? 'lacks' : 'has'} ${line}`)
  }
}

type Line = Record<'account' | 'opening' | 'debit' | 'credit' | 'closing', string>

const sumOf = (lines: readonly Line[], side: 'debit' | 'credit'): number =>
  lines.reduce((sum, line) => sum + Number(pesewasOf(line[side])), 0)

/** A journal has the debits and credits of its entries, between the balances of its accounts. */
const journalsAddUp: Check = (index, report) => {
  const postings = postingsIn(index)
  for (const { noun, call, options, result } of index.operatorCalls) {
    if (noun !== 'ledger' || !result.accounts) continue
    const { entries, accounts } = result as { entries: { lines: Line[] }[]; accounts: Line[] }
    const all = [...postings, ...remittancesBy(index, call.at)]
    const opening = balancesOf(all, startOf(String(options.date)))
    for (const account of accounts) {
      const own = entries.flatMap(({ lines }) =>
        lines.filter((line) => line.account === account.account),
      )
      const [debit, credit] = [sumOf(own, 'debit'), sumOf(own, 'credit')]
      const before = opening.get(account.account) ?? 0
      const due = [before, debit, credit, before + debit - credit].map(inGhs)
      const shown = [account.opening, account.debit, account.credit, account.closing]
      if (`${shown}` !== `${due}`)
        report(`the journal of ${options.date}`, `has ${account.account} ${shown}, not ${due}`)
    }
  }
}

export const checks: Checks = { 54: [storedBalancesAreRight, closingsAreRight, journalsAddUp] }
