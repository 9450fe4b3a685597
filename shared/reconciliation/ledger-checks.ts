import { rowOf } from '../domain/debits/exception.ts'
import { formatAmount } from '../domain/money.ts'
import type { Subject } from '../domain/operator/finding.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import {
  type Account,
  addBalances,
  type Balances,
  balanceOf,
  payable,
  post,
  trialBalance,
} from '../domain/settlement/ledger-entry.ts'
import { dayAfter, startOf } from '../domain/time.ts'
import { casesSince } from '../ledger/cases.ts'
import { isClosed } from '../ledger/day.ts'
import { type Case, fundingEntries } from '../ledger/entries.ts'
import { entriesOfCases, reversedUnsettled } from '../ledger/facts.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { findFunds, listFundings } from '../store/settlement/funding.ts'
import { findClosing, putClosing } from '../store/settlement/ledger-days.ts'
import type { ReconciliationRun } from '../store/settlement/reconciliations.ts'
import type { Span } from '../store/table.ts'
import { type CheckResult, checkResult, type Findings } from './findings.ts'
import { postEntry, reportUnderivable } from './ledger-part.ts'
import {
  addCases,
  casesAt,
  refundsOwed,
  reversedSince,
  stateOfBatches,
  undecided,
} from './ledger-state.ts'
import { type LedgerPart, newLedger } from './part.ts'
import { SKEW_MS, type Window } from './records.ts'
import { type Amounts, whole } from './sums.ts'

/** The sums of a provider's parts. */
export type ProviderSums = { amounts: Amounts; ledger: LedgerPart }

type LedgerRun = {
  run: ReconciliationRun
  window: Window
  providers: ReadonlyMap<ProviderId, ProviderSums>
  findings: Findings
}

/** Returns the time from which a run derives entries: the end of the last stored balances. */
export const carriedSince = ({ carriedFrom: day }: Pick<ReconciliationRun, 'carriedFrom'>): Date =>
  day ? startOf(dayAfter(day)) : new Date(0)

/**
 * Compares the ledger of a past day with debits, batches, refunds and the cash counter, and stores its
 * balances if they agree.
 */
export const compareLedger = async (request: LedgerRun): Promise<void> => {
  const { window, providers } = request
  if (window.now < window.before) return
  if ([...providers.values()].some(({ ledger }) => ledger.isFailed)) return
  try {
    await compare(request)
  } catch (error) {
    reportUnderivable(request, error)
  }
}

const PROVIDERS_AT_ONCE = 16

const compare = async (request: LedgerRun): Promise<void> => {
  const { window, providers, findings } = request
  const { date, before: end, now } = window
  const all = { subject: date }
  const add = (of: Subject, result: CheckResult): void => findings.add(40, of, result)
  const fundsBefore = await findFunds()
  const { ledger, unknown } = await sumsOf(request)
  const stored = new Map(ledger.carried)
  addBalances(stored, ledger.posted)
  for (const account of new Set([...ledger.posted.keys(), ...ledger.collected.keys()])) {
    if (!account.startsWith('bank_receivable:') || unknown.has(account)) continue
    const expected = BigInt(balanceOf(ledger.collected, account))
    add(all, agrees(account, ledger.posted, expected, 'changed by'))
  }
  const funded = (await listFundings()).flatMap(fundingEntries)
  const opening = new Map(ledger.carried)
  for (const entry of funded) {
    if (entry.at < startOf(date)) post(opening, entry)
    else if (entry.at < end) postEntry(entry, { findings, window, ledger })
  }
  const closing = new Map(opening)
  addBalances(closing, ledger.posted)
  add(all, isBalanced(opening, 'opening'))
  add(all, isBalanced(closing, 'closing'))
  const cases = await casesAt(end)
  add(all, agrees('refunds_payable', closing, -refundsOwed(cases, end)))
  add(all, agrees('exceptions', closing, -undecided(cases, end)))
  const reversed = new Map<ProviderId, bigint>()
  const isUnread = isReversedFirst(providers)
  for (const { provider, amount, reversedAt } of await reversedSince(cases, end)) {
    const isOwed = isUnread(provider, reversedAt)
    if (isOwed === undefined) unknown.add(payable(provider))
    if (isOwed) reversed.set(provider, (reversed.get(provider) ?? 0n) + amount)
  }
  const states = await mapConcurrent(
    [...providers],
    PROVIDERS_AT_ONCE,
    async ([provider, sums]) => {
      const { owed, paidSince } = await stateOfBatches(provider, end)
      const due = sums.amounts.owed + owed + (reversed.get(provider) ?? 0n)
      return { provider, due, paidSince, fees: sums.amounts.fees }
    },
  )
  for (const { provider, due } of states) {
    if (unknown.has(payable(provider))) continue
    add({ provider, subject: date }, agrees(payable(provider), closing, -due))
  }
  const fees = states.reduce((sum, state) => sum + state.fees, 0n)
  add(all, agrees('fee_income', ledger.posted, -fees, 'changed by'))
  const later = funded.filter(({ at }) => at >= end)
  const fundedLater = later.reduce(
    (sum, { debit, amount }) => sum + whole(debit === 'cash' ? amount : -amount),
    0n,
  )
  const paidSince = states.reduce((sum, state) => sum + state.paidSince, 0n)
  const funds = await findFunds()
  // The cash must not have changed since the batches were read.
  if (funds === fundsBefore) {
    add(all, agrees('cash', closing, whole(funds) - fundedLater + paidSince))
  }
  const found = findings.list().find(({ number }) => number === 40)
  // Stored balances must not outlive a repair of the table. A run that has ended has stored them.
  const isKnown = found?.differences === 0 && unknown.size === 0
  if (isKnown && isClosed(date, now) && !request.run.endedAt) {
    await putClosing({ day: date, balances: Object.fromEntries(stored) }, request.run.id)
  }
}

/**
 * Adds the entries of all providers and of refunds and exceptions to the last stored balances. The balances
 * of two accounts are unknown if their debit was reversed while its provider's unsettled debits were read,
 * because the read counts it or not. The next night then carries the day.
 */
const sumsOf = async ({ run, window, providers, findings }: LedgerRun) => {
  const ledger = newLedger()
  const stored = run.carriedFrom ? await findClosing(run.carriedFrom) : undefined
  addBalances(
    ledger.carried,
    new Map(Object.entries(stored?.balances ?? {}) as [Account, number][]),
  )
  for (const one of providers.values()) {
    addBalances(ledger.carried, one.ledger.carried)
    addBalances(ledger.posted, one.ledger.posted)
    addBalances(ledger.collected, one.ledger.collected)
  }
  const span = { from: carriedSince(run), before: window.before }
  const found = await casesSince(span.from)
  for (const [subject, item] of found) findings.add(40, { subject }, hasKnownKinds(item, span))
  const cases = [...found.values()]
  for (const entry of entriesOfCases(cases, span)) postEntry(entry, { findings, window, ledger })
  addCases(ledger.collected, cases, window)
  const isUnread = isReversedFirst(providers)
  const unknown = new Set<Account>()
  for (const { entry, provider, reversedAt } of await reversedUnsettled(cases, span)) {
    const isPosted = isUnread(provider, reversedAt)
    if (isPosted === undefined) unknown.add(entry.debit).add(entry.credit)
    if (isPosted) postEntry(entry, { findings, window, ledger })
  }
  return { ledger, unknown }
}

/** Returns whether a reversal precedes the read of unsettled debits; undefined if it is too near, because clocks differ. */
const isReversedFirst =
  (providers: LedgerRun['providers']) =>
  (provider: ProviderId, reversedAt: Date): boolean | undefined => {
    const { from, until } = providers.get(provider)?.ledger.read ?? NEVER
    const at = reversedAt.getTime()
    if (at < from - SKEW_MS) return true
    return at > until + SKEW_MS ? false : undefined
  }

/** Its unsettled debits were not read. */
const NEVER = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY }

/** The ledger lacks the entries of a kind of a later version, which must store the balances. */
const hasKnownKinds = ({ exceptions }: Case, { before }: Span): CheckResult =>
  checkResult(
    Object.fromEntries(
      exceptions.map(({ kind, at }) => [
        `has an exception of the unknown kind ${kind}`,
        rowOf(kind) === undefined && at < before,
      ]),
    ),
    0,
  )

const isBalanced = (balances: Balances, when: string): CheckResult =>
  checkResult({
    [`the ${when} trial balance is ${formatAmount(whole(trialBalance(balances)))}`]:
      trialBalance(balances) !== 0,
  })

const agrees = (account: Account, balances: Balances, expected: bigint, verb = 'is') => {
  const balance = whole(balanceOf(balances, account))
  return checkResult({
    [`${account} ${verb} ${formatAmount(balance)} in the ledger, but ${formatAmount(expected)} in the table`]:
      balance !== expected,
  })
}
