import type { Debit } from '../domain/debits/debit.ts'
import type { Reference } from '../domain/ids.ts'
import { formatAmount } from '../domain/money.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { DAY_MS } from '../domain/time.ts'
import { findDayTotal } from '../store/debits/charges.ts'
import { createdWithin } from '../store/debits/debit-lists.ts'
import { findProvider } from '../store/providers/providers.ts'
import { findWebhookSettings } from '../store/webhooks/webhooks.ts'
import { unsettledPages } from '../store/work-index.ts'
import { hasRefund } from './cases.ts'
import * as checks from './debit-checks.ts'
import { isOfItsEvent, isPublished } from './events.ts'
import {
  type CheckResult,
  checkResult,
  type Findings,
  type Invariant,
  notApplicable,
} from './findings.ts'
import { debitsInFeed, endedEarlier, loadRecords, loadSettled, readDebits } from './read.ts'
import type { DebitRecord, Subscription, Window } from './records.ts'
import { isAdjustedOnce, isSettledOnce, isSettledRightly, keepsItsAmount } from './settled.ts'
import { type Money, whole, withMoneyOf } from './sums.ts'

type Check = (record: DebitRecord, window: Window, subscription: Subscription) => CheckResult

const debitChecks: readonly [Invariant, Check][] = [
  [1, checks.existsAsAccepted],
  [4, checks.endsInTime],
  [5, checks.followsTheLifecycle],
  [6, checks.hasOneOutcome],
  [9, checks.isNamed],
  [10, checks.isClaimed],
  [12, checks.versionMatches],
  [13, isOfItsEvent],
  [15, isPublished],
  [22, isSettledOnce],
  [23, isSettledRightly],
  [25, keepsItsAmount],
  [27, isAdjustedOnce],
  [33, checks.hasActor],
  [39, hasRefund],
]

/** Checks the debits that a provider created on the day, and the day's total; returns their money. */
export const checkDebits = async (
  provider: ProviderId,
  window: Window,
  findings: Findings,
  moneyBefore: Money,
): Promise<Money> => {
  const [first, subscription] = await Promise.all([
    findDayTotal(provider, window.date),
    findWebhookSettings(provider),
  ])
  const known = new Set<Reference>()
  let money = moneyBefore
  let sum = 0n
  const created = createdWithin(provider, { ...window, pageSize: PAGE_SIZE }, known)
  const sources = [created, debitsInFeed(provider, window, known)]
  for (const pages of sources) {
    for await (const references of pages) {
      const debits = await readListed(provider, references, 'does not exist', findings)
      for (const record of await loadRecords(debits.filter((debit) => isOfDay(debit, window)))) {
        const of = { provider, subject: record.debit.facts.reference }
        for (const [number, check] of debitChecks) {
          findings.check(number, of, () => check(record, window, subscription))
        }
        money = withMoneyOf(money, record)
        sum += shareOf(record.debit, window)
      }
    }
  }
  const [last, settings] = await Promise.all([
    findDayTotal(provider, window.date),
    findProvider(provider),
  ])
  const total = { sum, first, last, limit: settings?.dailyLimit }
  findings.add(20, { provider, subject: window.date }, isCounted(total, window))
  return money
}

/** Reads listed debits. A listed debit was accepted, so it must exist. */
const readListed = async (
  provider: ProviderId,
  references: readonly Reference[],
  difference: string,
  findings: Findings,
): Promise<Debit[]> => {
  const debits = await readDebits(references)
  for (const subject of references) {
    const result = debits.has(subject) ? notApplicable : checkResult({ [difference]: true })
    findings.add(1, { provider, subject }, result)
  }
  return [...debits.values()]
}

const isOfDay = ({ history: [created] }: Debit, { from, before }: Window): boolean =>
  created === undefined || (created.at >= from && created.at < before)

/** Returns the share of a debit in its day's total; a failed debit has none. */
const shareOf = ({ facts, status }: Debit, { date }: Window): bigint =>
  facts.countedOn === date && status !== 'failed' ? whole(facts.amount) : 0n

type DayTotal = {
  sum: bigint
  /** The counter before and after the debits were read. */
  first: number | undefined
  last: number | undefined
  limit: number | undefined
}

/** The lifetime of a counter. */
const RETENTION_MS = 399 * DAY_MS

/** Compares sum and counter only if the counter was stable. The limit is the current one. */
const isCounted = ({ sum, first, last, limit }: DayTotal, window: Window): CheckResult => {
  const isRetained = window.now.getTime() - window.from.getTime() < RETENTION_MS
  if (last === undefined && (sum === 0n || !isRetained)) return notApplicable
  return checkResult({
    [`has no total, but debits of ${formatAmount(sum)}`]: last === undefined,
    [`has a total of ${formatAmount(whole(last ?? 0))}, but debits of ${formatAmount(sum)}`]:
      last !== undefined && first === last && whole(last) !== sum,
    [`has debits of ${formatAmount(sum)}, above its limit of ${formatAmount(whole(limit ?? 0))}`]:
      limit !== undefined && sum > whole(limit),
  })
}

const PAGE_SIZE = 100

/** Checks debits of other days: recently completed or reversed ones, and all unsettled ones. */
export const checkEarlier = async (provider: ProviderId, window: Window, findings: Findings) => {
  const known = new Set<Reference>()
  const span = { from: new Date(0), before: window.settledBefore, pageSize: PAGE_SIZE }
  for await (const references of endedEarlier(provider, window, known)) {
    await checkSettled(provider, references, window, findings)
  }
  for await (const references of unsettledPages(provider, span)) {
    const fresh = references.filter((reference) => !known.has(reference))
    await checkSettled(provider, fresh, window, findings)
  }
}

const checkSettled = async (
  provider: ProviderId,
  references: readonly Reference[],
  window: Window,
  findings: Findings,
): Promise<void> => {
  const debits = await readListed(provider, references, 'cannot be read', findings)
  const others = debits.filter((debit) => !debit.history[0] || !isOfDay(debit, window))
  for (const record of await loadSettled(others)) {
    const of = { provider, subject: record.debit.facts.reference }
    findings.check(22, of, () => isSettledOnce(record, window))
    findings.check(27, of, () => isAdjustedOnce(record, window))
  }
}
