import { type Debit, stateAt } from '../domain/debits/debit.ts'
import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { isWithin } from '../domain/settlement/ledger-entry.ts'
import { type Day, dayAfter, startOf } from '../domain/time.ts'
import { createdWithin } from '../store/debits/debit-lists.ts'
import type { ListName } from '../store/debits/status-lists.ts'
import type { Span } from '../store/table.ts'
import { recentFeed } from '../store/webhooks/feed.ts'
import { findWebhookSettings } from '../store/webhooks/webhooks.ts'
import { unsettledPages } from '../store/work-index.ts'
import { hasRefund, knowsItsRequest } from './cases.ts'
import * as checks from './debit-checks.ts'
import { isOfItsEvent, isPublished } from './events.ts'
import { type CheckResult, checkResult, type Invariant, notApplicable } from './findings.ts'
import { addCollected } from './ledger-state.ts'
import { EXPECTED, listsOf } from './lifecycle.ts'
import type { PartScope, SpanTask, Task } from './part.ts'
import * as read from './read.ts'
import {
  type DebitRecord,
  firstEnded,
  isRecent,
  type Subscription,
  type Window,
} from './records.ts'
import {
  isAdjustedOnce,
  isSettledOnce,
  isSettledRightly,
  keepsItsAmount,
  linesRepeatDebit,
} from './settled.ts'
import { readSlice } from './slices.ts'
import { addMoneyOf, whole } from './sums.ts'

type Check = (record: DebitRecord, window: Window, subscription: Subscription) => CheckResult

const debitChecks: readonly [Invariant, Check][] = [
  [1, checks.existsAsAccepted],
  [4, checks.endsInTime],
  [5, checks.followsTheLifecycle],
  [6, checks.hasOneOutcome],
  [9, checks.referenceIsWellFormed],
  [10, checks.claimPointsToDebit],
  [12, checks.versionMatches],
  [13, isOfItsEvent],
  [15, isPublished],
  [20, checks.isCountedOnItsDay],
  [22, isSettledOnce],
  [23, isSettledRightly],
  [25, keepsItsAmount],
  [27, isAdjustedOnce],
  [31, knowsItsRequest],
  [33, checks.changesHaveActors],
  [39, hasRefund],
  [50, linesRepeatDebit],
]

/** Entries of an index that one call reads. */
const LIST_PAGE = 1_000
/** Of each of eight shards. */
const SHARD_PAGE = 125

const created = (provider: ProviderId, lists?: readonly ListName[]) => (span: Span) =>
  createdWithin(provider, { ...span, pageSize: LIST_PAGE, ...(lists && { lists }) }, new Set())

/** An index may lag by less. */
const LAG_MS = 300_000

/** Checks a slice of the debits that a provider created on the day. */
export const checkDebits = async (task: SpanTask, scope: PartScope): Promise<Task[]> => {
  const { provider, window, findings, amounts, ledger, sliceMax } = scope
  const { span, references, rest } = await readSlice(created(provider), task, sliceMax)
  const isRecent = span.before.getTime() > window.now.getTime() - LAG_MS
  const listed = await read.readFollowed(references)
  const late = isRecent ? await unlisted(references, span, scope) : []
  reportMissing(references, listed, 'does not exist', scope)
  const followed = [...listed.values(), ...late]
  const [records, subscription] = await Promise.all([
    read.loadRecords(followed),
    findWebhookSettings(provider),
  ])
  for (const record of records) {
    const of = { provider, subject: record.debit.facts.reference }
    for (const [number, check] of debitChecks) {
      findings.check(number, of, () => check(record, window, subscription))
    }
    addMoneyOf(amounts, record)
    addCollected(ledger.collected, record.debit, window)
    amounts.counted += shareOf(record.debit, window)
  }
  return rest ? [rest] : []
}

/** Reads the debits of the feed that were created in a span and that the index does not list yet. */
const unlisted = async (
  references: readonly Reference[],
  span: Span,
  { provider, window }: PartScope,
) => {
  const known = new Set(references)
  const found = new Set<Reference>()
  let below: number | undefined
  do {
    const { entries, next } = await recentFeed(provider, span.from, below)
    for (const reference of read.createdOn(entries, window)) {
      if (!known.has(reference)) found.add(reference)
    }
    below = next
  } while (below !== undefined)
  const late = await read.readFollowed([...found])
  return [...late.values()].filter(({ debit }) => isWithin(stateAt(debit, 0).createdAt, span))
}

/** Checks that the debits of the day in a part of the feed exist: they were accepted. */
export const checkFeed = async ({ below }: { below?: number }, scope: PartScope) => {
  const { provider, window, findings } = scope
  const { entries, next } = await recentFeed(provider, window.from, below)
  for (const subject of await read.findMissing(read.createdOn(entries, window))) {
    findings.add(1, { provider, subject }, checkResult({ 'does not exist': true }))
  }
  return next === undefined ? [] : [{ type: 'feed', below: next } as const]
}

/** Listed debits were accepted, so they must exist. */
const reportMissing = (
  references: readonly Reference[],
  debits: ReadonlyMap<Reference, unknown>,
  difference: string,
  { provider, findings }: PartScope,
): void => {
  for (const subject of references) {
    const result = debits.has(subject) ? notApplicable : checkResult({ [difference]: true })
    findings.add(1, { provider, subject }, result)
  }
}

/** Returns the share of a debit in its day's total. */
const shareOf = ({ facts, status }: Debit, { date }: Window): bigint =>
  facts.countedOn === date && EXPECTED[status].isCounted ? whole(facts.amount) : 0n

const REVERSED_DAYS = 90

const endedFrom = (date: Day): Date => startOf(firstEnded(date))
const reversedFrom = (date: Day): Date => startOf(dayAfter(date, -REVERSED_DAYS))

/**
 * Returns the tasks that check debits of earlier days: one charged before midnight ends after it, and
 * its entry in the work index may be lost.
 */
export const earlierTasks = ({ date, from, settledBefore }: Window): SpanTask[] => [
  { type: 'ended', from: endedFrom(date).getTime(), before: from.getTime() },
  { type: 'reversed', from: reversedFrom(date).getTime(), before: endedFrom(date).getTime() },
  { type: 'unsettled', from: 0, before: settledBefore.getTime() },
]

/** Checks that a slice of the debits that ended on earlier days is settled. */
export const checkEnded = async (task: SpanTask, scope: PartScope): Promise<Task[]> => {
  const lists = listsOf(task.type)
  const list = created(scope.provider, lists)
  const { references, rest } = await readSlice(list, task, scope.sliceMax)
  const debits = await read.readDebits(references)
  reportMissing(references, debits, 'cannot be read', scope)
  if (task.type === 'ended') {
    for (const debit of debits.values()) addCollected(scope.ledger.collected, debit, scope.window)
  }
  await checkSettled([...debits.values()], scope)
  return rest ? [rest] : []
}

/** Checks a slice of the unsettled debits, except those that the other tasks check. */
export const checkUnsettled = async (task: SpanTask, scope: PartScope): Promise<Task[]> => {
  const { provider, window, sliceMax } = scope
  const list = (span: Span) => unsettledPages(provider, { ...span, pageSize: SHARD_PAGE })
  const { references, rest } = await readSlice(list, task, sliceMax)
  const debits = await read.readDebits(references)
  const unreadable = references.filter((reference) => !isRecent(reference, window))
  reportMissing(unreadable, debits, 'cannot be read', scope)
  await checkSettled(
    [...debits.values()].filter((debit) => !isCheckedByCreation(debit, window)),
    scope,
  )
  return rest ? [rest] : []
}

const isCheckedByCreation = ({ history: [created], status }: Debit, { date, before }: Window) =>
  created !== undefined &&
  created.at < before &&
  created.at >= (EXPECTED[status].money === 'reversed' ? reversedFrom(date) : endedFrom(date))

const checkSettled = async (debits: readonly Debit[], scope: PartScope): Promise<void> => {
  const { provider, window, findings } = scope
  const others = debits.filter(
    ({ history: [created] }) => !created || !isWithin(created.at, window),
  )
  for (const record of await read.loadSettled(others)) {
    const of = { provider, subject: record.debit.facts.reference }
    findings.check(22, of, () => isSettledOnce(record, window))
    findings.check(27, of, () => isAdjustedOnce(record, window))
    findings.check(31, of, () => knowsItsRequest(record))
    findings.check(39, of, () => hasRefund(record))
    findings.check(50, of, () => linesRepeatDebit(record))
  }
}
