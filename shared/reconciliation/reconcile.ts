import type { Debit } from '../domain/debits/debit.ts'
import type { Reference } from '../domain/ids.ts'
import { isHeldBy } from '../domain/operator/restore.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Day } from '../domain/time.ts'
import type { Runtime } from '../runtime.ts'
import { findDayTotal } from '../store/debits/charges.ts'
import { exceptionPages } from '../store/debits/exceptions.ts'
import { findRestore } from '../store/operator/restores.ts'
import { findProvider, listProviders } from '../store/providers/providers.ts'
import { findBatches, listFailed, listPayable } from '../store/settlement/batches.ts'
import { findWebhookSettings } from '../store/webhooks/webhooks.ts'
import { unsettledPages } from '../store/work-index.ts'
import { checkBatches } from './batches.ts'
import { isCounted, shareOf } from './day-total.ts'
import { debitChecks } from './debit-checks.ts'
import { isOfItsDebit } from './exceptions.ts'
import { type Finding, type Findings, newFindings } from './findings.ts'
import { checkResult, judged, notApplicable } from './invariants.ts'
import { checkLedger } from './ledger-checks.ts'
import { type Money, noMoney, withMoneyOf } from './money.ts'
import {
  createdOnDay,
  debitsInFeed,
  endedEarlier,
  loadRecords,
  loadSettled,
  readDebits,
} from './read.ts'
import { checkRefunds } from './refunds.ts'
import type { DebitRecord, Subscription } from './related.ts'
import { isAdjustedOnce, isSettledOnce } from './settled.ts'
import { type Window, windowOf } from './window.ts'

/**
 * Holds a day against what must hold: its debits, what is kept beside them, its totals, and the
 * batches that its run built. All of it is computed again from what stands in the table; nothing
 * is mended, since whoever mends should know first how it came about.
 */

export type ReconciliationResult = {
  date: Day
  checkedAt: Date
  invariants: Finding[]
  /** Of the debits that were created on the day. */
  money: Money
  differences: number
  /** Providers whose timeouts, payouts and refunds a restore holds. */
  held: ProviderId[]
}

export const reconcile = async (
  date: Day,
  { now }: Pick<Runtime, 'now'>,
): Promise<ReconciliationResult> => {
  const restore = await findRestore()
  const terms = { ...windowOf(date, now()), restore }
  const tally = newFindings()
  let money = noMoney
  await checkExceptions(terms, tally)
  await checkRefunds(terms, tally)
  const unpaid = await findUnpaid(terms)
  const providers = await listProviders()
  for (const provider of providers) {
    money = await lookAtDebits(provider, terms, { tally, money })
    await checkEarlier(provider, terms, tally)
    await checkBatches(provider, unpaid.get(provider) ?? [], terms, tally)
  }
  await checkLedger(terms, tally)
  const invariants = tally.findings()
  const differences = invariants.reduce((sum, one) => sum + one.differences, 0)
  const held = providers.filter((provider) => isHeldBy(restore, provider))
  return { date, checkedAt: terms.now, invariants, money, differences, held }
}

/** Batches that are due or failed, by their providers. */
const findUnpaid = async ({ now }: Window) => {
  const ids = await Promise.all([listPayable(now), listFailed(now)])
  return Map.groupBy(await findBatches(ids.flat()), ({ provider }) => provider)
}

const checkExceptions = async (terms: Window, tally: Findings): Promise<void> => {
  for (const status of ['open', 'resolved'] as const) {
    for await (const records of exceptionPages(status, terms)) {
      const debits = await readDebits(records.map(({ reference }) => reference))
      for (const record of records) {
        const { provider, reference: subject } = record
        tally.add(31, { provider, subject }, isOfItsDebit(record, debits.get(subject)))
      }
    }
  }
}

/** The debits of the day, one by one and in their sum. */
const lookAtDebits = async (
  provider: ProviderId,
  terms: Window,
  { tally, money: before }: { tally: Findings; money: Money },
): Promise<Money> => {
  const [first, subscription] = await Promise.all([
    findDayTotal(provider, terms.date),
    findWebhookSettings(provider),
  ])
  const known = new Set<Reference>()
  let money = before
  let sum = 0n
  for (const pages of [
    createdOnDay(provider, terms, known),
    debitsInFeed(provider, terms, known),
  ]) {
    for await (const references of pages) {
      const debits = await findAll(references, provider, terms, tally)
      for (const seen of await loadRecords(debits)) {
        lookAtDebit(seen, terms, { tally, subscription })
        money = withMoneyOf(money, seen)
        sum += shareOf(seen.debit, terms)
      }
    }
  }
  const [last, settings] = await Promise.all([
    findDayTotal(provider, terms.date),
    findProvider(provider),
  ])
  const total = { sum, first, last, limit: settings?.dailyLimit }
  tally.add(20, { provider, subject: terms.date }, isCounted(total, terms))
  return money
}

/** What was listed or told of was accepted once, so it must be there. */
const findAll = async (
  references: readonly Reference[],
  provider: ProviderId,
  { from, before }: Window,
  tally: Findings,
): Promise<Debit[]> => {
  const debits = await readDebits(references)
  for (const subject of references) {
    const wrong = debits.has(subject) ? notApplicable : checkResult({ 'is not there': true })
    tally.add(1, { provider, subject }, wrong)
  }
  return [...debits.values()].filter(({ history: [created] }) => {
    const at = created?.at ?? from
    return at >= from && at < before
  })
}

const lookAtDebit = (
  seen: DebitRecord,
  terms: Window,
  { tally, subscription }: { tally: Findings; subscription: Subscription },
): void => {
  const { provider, reference: subject } = seen.debit.facts
  for (const [number, check] of debitChecks) {
    tally.add(
      number,
      { provider, subject },
      judged(() => check(seen, terms, subscription)),
    )
  }
}

const PAGE_SIZE = 100
const BEGINNING = new Date(0)

/**
 * Checks the settlement of debits of other days: those that were completed or reversed of late, as
 * their lists show them, and those of any day that wait for a run.
 */
const checkEarlier = async (
  provider: ProviderId,
  terms: Window,
  tally: Findings,
): Promise<void> => {
  const known = new Set<Reference>()
  const span = { from: BEGINNING, before: terms.settledBefore, pageSize: PAGE_SIZE }
  for await (const references of endedEarlier(provider, terms, known)) {
    await checkSettled(provider, references, terms, tally)
  }
  for await (const references of unsettledPages(provider, span)) {
    const fresh = references.filter((reference) => !known.has(reference))
    await checkSettled(provider, fresh, terms, tally)
  }
}

const checkSettled = async (
  provider: ProviderId,
  references: readonly Reference[],
  terms: Window,
  tally: Findings,
): Promise<void> => {
  const debits = await readDebits(references)
  for (const subject of references) {
    const wrong = debits.has(subject) ? notApplicable : checkResult({ 'cannot be read': true })
    tally.add(1, { provider, subject }, wrong)
  }
  for (const seen of await loadSettled([...debits.values()].filter(isOfAnotherDay(terms)))) {
    const of = { provider, subject: seen.debit.facts.reference }
    tally.add(
      22,
      of,
      judged(() => isSettledOnce(seen, terms)),
    )
    tally.add(
      27,
      of,
      judged(() => isAdjustedOnce(seen, terms)),
    )
  }
}

/** Those of the day were looked at. */
const isOfAnotherDay =
  ({ from, before }: Window) =>
  ({ history: [created] }: Debit): boolean =>
    !created || created.at < from || created.at >= before
