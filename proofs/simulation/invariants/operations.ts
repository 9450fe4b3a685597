import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { Options, RunSetup } from '../engine/observations.ts'
import { membersOf, releaseOf, restoreOf } from './calls.ts'
import type { ObservationIndex } from './observation-index.ts'
import { isRefusal } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, REPAIR_MS, startOf } from './time-and-money.ts'

/** Reconciliations, restores and rollouts. */

type Finding = { number: number; examples: readonly { subject: string; difference: string }[] }

/**
 * Correct worlds have these: an operator has yet to act, or lowered the limit of a past day, or faults
 * delayed a debit.
 */
const USUAL = [/^its payout failed and was not retried$/, /^has debits of .*, above its limit of /]
const AFTER_FAULTS = /^took [0-9]+ s$/
/** The reconciliation compares times of two clocks, with a tolerance of a minute. */
const FAR_CLOCKS = /, but was reversed before$/
/** A refund that has begun waits for the connector that an operator has removed from its bank. */
const UNDERWAY = /^has a refund that is processing /

const correctSince = ({ isHealthy, startedAt, healedAt }: RunSetup): number =>
  isHealthy ? startedAt : Math.ceil((healedAt + REPAIR_MS) / DAY_MS) * DAY_MS

/** Returns the differences that a correct world does not have. */
const differencesIn = (findings: unknown, index: ObservationIndex) => {
  const { setup, refunds, timeline } = index
  const { isHealthy, skew, healedAt, endedAt } = setup
  const isDisconnected = (reference: string): boolean => {
    const bank = refunds.get(reference)?.item.bank ?? ''
    return timeline.during('connectorUrl', bank, healedAt, endedAt).includes(undefined)
  }
  return (Array.isArray(findings) ? (findings as Finding[]) : [])
    .flatMap(({ number, examples }) => examples.map((example) => ({ number, ...example })))
    .filter(
      ({ subject, difference }) =>
        !(UNDERWAY.test(difference) && isDisconnected(subject)) &&
        !USUAL.some((pattern) => pattern.test(difference)) &&
        (isHealthy || !AFTER_FAULTS.test(difference)) &&
        (2 * skew < MINUTE_MS || !FAR_CLOCKS.test(difference)),
    )
}

/** A reconciliation by an operator reports nothing but what operators must do. */
const reconciliationsFindNothing: Check = (index, report) => {
  const { setup, operatorCalls } = index
  for (const { noun, verb, call, result, options } of operatorCalls) {
    const isRun = noun === 'reconciliation' && verb === 'run' && call.at >= correctSince(setup)
    if (!isRun || !call.reply) continue
    const { invariants } = result
    if (!Array.isArray(invariants))
      report('reconciliation', `ended with ${JSON.stringify(call.reply.body)}`)
    for (const { subject, difference, number } of differencesIn(invariants, index))
      report(subject, `${difference} (reconciliation of ${options.date}, invariant ${number})`)
  }
}

type InvariantResult = { differences: number; examples: { subject: string }[] }

/** The reconciliation of a day names each item that is wrong. */
const falsifiedItemsAreNamed: Check = ({ observations: { falsified } }, report) => {
  if (!falsified) return
  const { date, items, result } = falsified
  const { invariants = [] } = membersOf(result) as { invariants?: InvariantResult[] }
  const named = new Set(
    invariants.flatMap(({ examples }) => examples.map(({ subject }) => subject)),
  )
  for (const { subject, name } of items)
    if (!named.has(subject))
      report(subject, `${name}, but the reconciliation of ${date} does not name it`)
  for (const { differences, examples } of invariants)
    if (differences < examples.length)
      report(date, `counts ${differences} of ${examples.length} differences`)
}

/** The debits of a statement were charged on its day or the three days before. */
const STATEMENT_MS = 3 * DAY_MS

/** A bank's statement is compared with all of its debits. */
const statementsAreWhole: Check = ({ setup, operatorCalls, debits }, report) => {
  const calls = operatorCalls.filter(
    ({ verb, call, result }) =>
      verb === 'statement' && call.at >= correctSince(setup) && result.debits,
  )
  for (const pages of Map.groupBy(calls, ({ options }) => options.bank).values()) {
    const { bank = '', date = '' }: Options = pages[0]?.options ?? {}
    if (!pages.some(({ result }) => result.next === null)) continue
    const read = new Set(
      pages.flatMap(({ result }) => (result.debits as { uuid: string }[]).map(({ uuid }) => uuid)),
    )
    for (const { item, uuid, createdAt } of debits.values()) {
      const age = createdAt - startOf(date)
      const isListed = item.bank.identifier === bank && age >= -STATEMENT_MS && age < DAY_MS
      if (isListed && !read.has(uuid))
        report(item.reference, `is not compared with the statement of ${bank}`)
    }
  }
}

const RUN_MS = HOUR_MS / 2
/** The sweep requests lost parts every hour. */
const SWEEP_MS = HOUR_MS

/** The nightly reconciliation ends, its parts are counted once, and they find as much. */
const nightlyReconciliationsEnd: Check = (index, report) => {
  const { setup, runs } = index
  for (const { item, parts } of runs) {
    const { id, startedAt, openParts, endedAt } = item
    const begun = Date.parse(startedAt)
    const open = parts.filter(({ findings }) => findings === undefined).length
    if (openParts !== open) report(id, `counts ${openParts} open parts, but has ${open}`)
    const end = Math.max(begun, setup.healedAt + SWEEP_MS) + RUN_MS
    if (!endedAt && end < setup.endedAt) report(id, `has not ended, and has ${open} open parts`)
    for (const part of begun < correctSince(setup) ? [] : parts) {
      const { findings } = JSON.parse(part.findings ?? '{}')
      for (const { subject, difference, number } of differencesIn(findings, index))
        report(subject, `${difference} (night of ${id}, invariant ${number})`)
    }
  }
}

const releasedIn = (item: Item | undefined) => (item?.released ?? []) as string[]

/** After a restore, the timeouts, payouts and refunds of a provider wait for its release, which lasts. */
const restoresHold: Check = (index, report) => {
  const { operatorCalls, batches, byUuid, payouts, refundPosts, debits, setup } = index
  for (const { before, after } of index.observations.changes.filter(({ by }) => by))
    for (const provider of after?.generation === before?.generation ? releasedIn(before) : [])
      if (!releasedIn(after).includes(provider)) report(provider, 'is held again')
  const begunAt = restoreOf(operatorCalls)?.reply?.at ?? Infinity
  const expectReleased = (about: string, provider: string | undefined, at: number): void => {
    if (provider && at > begunAt && at < (releaseOf(operatorCalls, provider)?.at ?? at + 1))
      report(about, `of ${provider} did not wait for its release`)
  }
  for (const { at, body } of payouts) {
    const id = String(body.batch)
    expectReleased(`the payout of ${id}`, batches.get(id)?.item.provider, at)
  }
  for (const { at, body } of refundPosts) {
    const uuid = String(body.debit_uuid)
    expectReleased(`the refund of ${uuid}`, byUuid.get(uuid)?.item.provider, at)
  }
  for (const [reference, { item, entries }] of debits) {
    const end = entries.find(
      (entry) => entry.type === 'failed' && entry.by.startsWith('job:') && !isRefusal(entry),
    )
    // The clock of its invocation may be behind.
    const latest = (end?.writtenAt ?? -Infinity) + setup.skew
    expectReleased(`the timeout of ${reference}`, item.provider, latest)
  }
}

/** The member that a later release adds to each item and message. */
export const LATER = { addedLater: 'by a later version' }

/** The items that a write replaces whole, and those that a repeat writes again. */
export const REPLACED: ReadonlySet<unknown> = new Set([
  ...['payee', 'account', 'ledger', 'ledger-page', 'sweep'],
  ...['attempt', 'waiting', 'missed-account', 'bulk-part', 'bulk-rows', 'reconciliation-providers'],
])

/** An update keeps the members of another release (docs/architecture.md#two-versions-run-at-the-same-time). */
const unknownMembersStay: Check = ({ observations: { changes } }, report) => {
  for (const { before, after, by } of changes) {
    // A recovery that is done is followed by another one.
    const isEnded = before?.entity === 'recovery' && before.status === 'done'
    const isLost = before && after && 'addedLater' in before && !('addedLater' in after) && !isEnded
    if (isLost && by && !REPLACED.has(after.entity))
      report(`${after.pk} ${after.sk}`, `loses a member of a later release by ${by.name}`)
  }
}

export const checks: Checks = {
  47: [reconciliationsFindNothing, falsifiedItemsAreNamed, statementsAreWhole],
  51: [nightlyReconciliationsEnd],
  67: [unknownMembersStay],
  72: [restoresHold],
}
