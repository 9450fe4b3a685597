import { isDeepStrictEqual } from 'node:util'
import type { FeeSchedule } from '../engine/observations.ts'
import { membersOf } from './calls.ts'
import type { BatchHistory, Check, DebitHistory, ObservationIndex } from './observation-index.ts'
import { mayWait } from './payout-days.ts'
import { beginOf, type ChangeOf, type RawBatch } from './raw-items.ts'
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS, pesewasOfFee, startOf } from './time-and-money.ts'

/** 41, 42: to whom and when the banks pay. Sums are checked by 24, 25 and 26. */

const startedAt = (index: ObservationIndex, { by, at }: ChangeOf<RawBatch>): number =>
  index.startOf(by?.invocation, at)

const isRequested = ({ operatorCalls }: ObservationIndex, id: string, at: number): boolean =>
  operatorCalls.some(
    ({ call, noun, verb, options }) =>
      noun === 'settlement' &&
      options.batch === id &&
      /^(?:process|retry|complete)$/.test(String(verb)) &&
      call.at <= at,
  )

export const payoutsReachTheirAccount: Check = (index, report) => {
  const { batches, timeline, bankPostsTo, observations } = index
  for (const { at, bank, body, idempotencyKey } of bankPostsTo.get('/settlements') ?? []) {
    const batch = batches.get(String(body.batch))
    const begun = batch && beginOf(batch.changes, idempotencyKey)
    if (!begun) continue
    const { id, provider, date } = batch.item
    const accounts = timeline.during('account', provider, startedAt(index, begun), begun.at)
    const isOwn = accounts.some(
      (account) =>
        account?.bank === bank &&
        account.number === body.account_number &&
        account.name === body.account_name,
    )
    if (!isOwn) report(id, `was sent to ${body.account_number} at ${bank}, not to ${provider}`)
    const dueAt = startOf(date) + DAY_MS
    const isEarly = at + 2 * observations.setup.skew < dueAt && !isRequested(index, id, at)
    if (isEarly) report(id, `of ${date} was paid at ${new Date(at).toISOString()}`)
  }
}

const HOLD_MS = 24 * HOUR_MS

export const changedAccountsHoldPayouts: Check = (index, report) => {
  const { setup } = index.observations
  if (!setup.approvals) return
  const changes = index.timeline.calls.filter(
    ({ options }) => options['settlement-account'] !== undefined,
  )
  for (const { item, changes: steps } of index.batches.values()) {
    for (const step of steps) {
      const isBegun = step.before?.status === 'pending' && step.after?.status === 'processing'
      const isHeld = changes.some(
        ({ subject, from, until }) =>
          subject === item.provider &&
          startedAt(index, step) > until &&
          step.at + 2 * setup.skew < from + HOLD_MS,
      )
      if (isBegun && isHeld) report(item.id, 'was paid although its account had just changed')
    }
  }
}

/** An index shows a batch at most a minute late; a run reads it before it pays. */
const INDEX_MS = 2 * MINUTE_MS

const isBelowZero = ({ changes }: BatchHistory, at: number): boolean => {
  const batch = changes.findLast((change) => change.at <= at)?.after
  return batch?.status === 'pending' && batch.outstanding < 0 && batch.reportedAt !== null
}

export const payoutsOffset: Check = (index, report) => {
  for (const own of Map.groupBy(index.batches.values(), ({ item }) => item.provider).values()) {
    const below = own.filter(({ item }) => (item.totals?.net ?? 0) < 0)
    for (const { item, changes } of below.length > 0 ? own : []) {
      for (const step of changes) {
        const { before, after } = step
        const isPaid = before?.status === 'pending' && after && (after.paid ?? 0) > 0
        if (!isPaid || before.paid !== null) continue
        const seenAt = startedAt(index, step) - INDEX_MS
        const ignored = below.find(
          (other) =>
            other.item.createdAt <= item.createdAt &&
            isBelowZero(other, seenAt) &&
            isBelowZero(other, step.at),
        )
        if (ignored) report(item.id, `was paid, but ${ignored.item.id} is below zero`)
      }
    }
  }
}

/** The sweep asks about a payout in progress after doubled delays. */
const PROGRESS_MS = 6 * HOUR_MS
const RUNS_MS = 2 * HOUR_MS

/** Returns the least recorded cash in a period. */
const leastCash = ({ cashChanges }: ObservationIndex, from: number, until: number): number => {
  const before = cashChanges.findLast(({ at }) => at < from)
  const within = cashChanges.filter(({ at }) => at >= from && at <= until)
  return Math.min(...[before, ...within].map((change) => change?.after?.cash ?? 0))
}

/** Returns when the payout of a due batch must begin: at midnight, or after a remittance. */
const chancesOf = ({ observations: { setup }, cashChanges }: ObservationIndex): number[] => {
  const { isHealthy, startedAt, healedAt, endedAt, approvals, waitsForFunding } = setup
  const fundings = cashChanges.filter(({ by }) => by?.name === 'manage-funding' && waitsForFunding)
  return [
    ...fundings.map(({ at }) => at),
    Math.floor((endedAt - RUNS_MS) / DAY_MS) * DAY_MS,
  ].filter(
    (at) => !approvals && at >= (isHealthy ? startedAt : healedAt) && at + RUNS_MS <= endedAt,
  )
}

/** 42: after the faults, each due batch that the cash covers is paid or rejected. */
export const dueBatchesArePaid: Check = (index, report) => {
  const { healedAt, endedAt, waitsForFunding } = index.observations.setup
  const chances = chancesOf(index)
  for (const { item, changes } of index.batches.values()) {
    for (const at of chances) {
      const [from, until] = [at - INDEX_MS, at + RUNS_MS] as const
      const { status, totals, payOn } = changes.findLast((change) => change.at < from)?.after ?? {}
      const isLeft = !changes.some((change) => change.at >= from && change.at <= until)
      const net = totals?.net ?? -1
      const isDue =
        status === 'pending' &&
        net >= 0 &&
        Math.max(startOf(item.date) + DAY_MS, Date.parse(payOn ?? item.date)) <= at &&
        !mayWait(index, item.provider, [dayOf(at)], [at, until])
      const isActive = !index.timeline
        .during('isActive', item.provider, from, until)
        .includes(false)
      const isCovered = !waitsForFunding || leastCash(index, at, until) >= net
      if (isDue && isLeft && isActive && isCovered) report(item.id, 'is due, but was not paid')
    }
    const since = changes.findLast(({ before, after }) => before?.status !== after?.status)?.at ?? 0
    if (item.status === 'processing' && endedAt - Math.max(since, healedAt) > PROGRESS_MS)
      report(item.id, 'is being paid since its faults ended')
  }
}

/** 29: a batch has the schedule of its opening, and a debit the fee of its bank. */

/** A batch keeps the schedule that its provider had when it was opened. */
export const schedulesAreCurrent: Check = ({ batches, timeline, startOf }, report) => {
  for (const [id, { item, changes }] of batches) {
    const [opened] = changes
    if (!opened) continue
    const startedAt = startOf(opened.by?.invocation, 0)
    const possible = timeline.during('feeSchedule', item.provider, startedAt, opened.at)
    const own = { ...(item.feeSchedule as FeeSchedule | null) }
    const isCurrent = possible.some((schedule) => isDeepStrictEqual(own, { ...schedule }))
    if (!isCurrent) report(id, `has the schedule ${JSON.stringify(own)}`)
  }
}

/** A JSON number keeps its text: 0.30000000000000004 has more digits than a number prints. */
const feeIn = (sent: unknown): unknown => {
  const text = typeof sent === 'string' ? /"fee":([0-9.]+)\}?$/.exec(sent)?.[1] : undefined
  return text ?? membersOf(sent).fee
}

const feeByBank = (
  { uuid, changes }: DebitHistory,
  { callBy, queriesOf }: ObservationIndex,
): number | undefined => {
  // A restore writes items too, without an invocation.
  const change = changes.findLast(
    ({ before, after, by }) =>
      by && after?.status === 'completed' && before?.status !== 'completed',
  )
  const invocation = change?.by?.invocation
  if (!change || invocation === undefined) return undefined
  const call = callBy.get(invocation)
  if (call) return pesewasOfFee(feeIn(call.sent))
  const query = queriesOf
    .get(uuid)
    ?.findLast(
      ({ by, answer, at }) => by === invocation && answer === 'completed' && at <= change.at,
    )
  return pesewasOfFee(query?.fee)
}

/** The reconciliation computes the fee of a line from that of its debit and the schedule (47). */
export const feesAreOfBank: Check = (index, report) => {
  for (const [reference, history] of index.debits) {
    const fee = history.entries.findLast(({ set }) => set.fee !== undefined)?.set.fee
    const byBank = feeByBank(history, index)
    if (fee !== byBank) report(reference, `has the fee ${fee}, but its bank reported ${byBank}`)
  }
}
