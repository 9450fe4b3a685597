import type { Observations } from '../engine/observations.ts'
import { allOf, type Check } from './invariant.ts'
import type { BatchHistory } from './observation-index.ts'
import type { ChangeOf, RawBatch } from './raw-items.ts'
import { membersOf } from './reply.ts'
import { timelineOf } from './setting-timeline.ts'
import { DAY_MS, HOUR_MS, inGhs, MINUTE_MS, startOf } from './time-and-money.ts'

/** 41, 42: to whom, when and how much the banks pay. */

const startedAt = ({ invocations }: Observations, { by, at }: ChangeOf<RawBatch>): number =>
  invocations.get(by?.invocation ?? 0)?.startedAt ?? at

/** Reports whether an operator asked for a payout before its day. */
const isRequested = ({ calls }: Observations, id: string, at: number): boolean =>
  calls.some(({ name, sent, at: calledAt }) => {
    const { verb, options } = membersOf(sent)
    const isEarly = verb === 'process' || verb === 'retry' || verb === 'complete'
    const isOf = name === 'manage-settlement' && membersOf(options).batch === id
    return isOf && isEarly && calledAt <= at
  })

/** 41: each payout goes to the account that the provider had, from its due day on. */
const payoutsReachTheirAccount: Check = ({ batches, observations }, report) => {
  const { bankPosts, setup } = observations
  const timeline = timelineOf(observations)
  for (const { at, bank, body, idempotencyKey, path } of bankPosts) {
    const batch = path === '/settlements' ? batches.get(String(body.batch)) : undefined
    const begun = batch?.changes.find(
      ({ after }) => after?.uuid === idempotencyKey && after.status === 'processing',
    )
    if (!batch || !begun) continue
    const { id, provider, date } = batch.item
    const accounts = timeline.during('account', provider, startedAt(observations, begun), begun.at)
    const isOwn = accounts.some(
      (account) =>
        account.bank === bank &&
        account.number === body.account_number &&
        account.name === body.account_name,
    )
    if (!isOwn) report(id, `was sent to ${body.account_number} at ${bank}, not to ${provider}`)
    const dueAt = startOf(date) + DAY_MS
    const isEarly = at + 2 * setup.skew < dueAt && !isRequested(observations, id, at)
    if (isEarly) report(id, `of ${date} was paid at ${new Date(at).toISOString()}`)
  }
}

const HOLD_MS = 24 * HOUR_MS

/** 41: with approvals, a changed account holds the payouts of a day. */
const changedAccountsHoldPayouts: Check = ({ batches, observations }, report) => {
  const { setup } = observations
  if (!setup.approvals) return
  const changes = timelineOf(observations).calls.filter(
    ({ options }) => options['settlement-account'] !== undefined,
  )
  for (const { item, changes: steps } of batches.values()) {
    for (const step of steps) {
      const isBegun = step.before?.status === 'pending' && step.after?.status === 'processing'
      if (!isBegun) continue
      const isHeld = changes.some(
        ({ provider, from, until }) =>
          provider === item.provider &&
          startedAt(observations, step) > until &&
          step.at + 2 * setup.skew < from + HOLD_MS,
      )
      if (isHeld) report(item.id, 'was paid although its account had just changed')
    }
  }
}

/** 41: the banks paid each provider the sum of its lines, less what is open. */
const paymentsMatchLines: Check = ({ batches, observations }, report) => {
  const owed = new Map<string, number>()
  const add = (provider: string, amount: number): void => {
    owed.set(provider, (owed.get(provider) ?? 0) + amount)
  }
  for (const { item, lines } of batches.values()) {
    if (!item.totals) continue
    for (const line of lines) add(item.provider, line.item.net)
    const isUnpaid = item.status === 'pending' || item.status === 'failed'
    if (item.totals.net < 0) add(item.provider, -item.outstanding)
    else if (isUnpaid) add(item.provider, -item.totals.net)
    else if (item.status === 'processing') add(item.provider, -(item.paid ?? 0))
  }
  const counted = new Set<string>()
  for (const { path, body, verdict, idempotencyKey } of observations.bankPosts) {
    const batch = path === '/settlements' && batches.get(String(body.batch))?.item
    const isPaid = batch && verdict === 'paid' && batch.status === 'completed'
    if (!isPaid || counted.has(idempotencyKey)) continue
    counted.add(idempotencyKey)
    add(batch.provider, -Math.round(Number(body.amount) * 100))
  }
  for (const [provider, rest] of owed) {
    if (rest !== 0) report(provider, `was paid ${inGhs(rest)} less than its lines`)
  }
}

export const payoutsAreRight = allOf(
  payoutsReachTheirAccount,
  changedAccountsHoldPayouts,
  paymentsMatchLines,
)

/** An index shows a batch at most a minute late; a run reads it before it pays. */
const INDEX_MS = 2 * MINUTE_MS

const stateAt = ({ changes }: BatchHistory, at: number): RawBatch | undefined =>
  changes.findLast((change) => change.at <= at)?.after

const isBelowZero = (batch: RawBatch | undefined): batch is RawBatch =>
  batch?.status === 'pending' && batch.outstanding < 0 && batch.reportedAt !== null

/** 42: a payout first offsets the earlier batches below zero. */
const payoutsOffset: Check = ({ batches, observations }, report) => {
  const byProvider = Map.groupBy(batches.values(), ({ item }) => item.provider)
  for (const own of byProvider.values()) {
    const below = own.filter(({ item }) => (item.totals?.net ?? 0) < 0)
    for (const { item, changes } of below.length > 0 ? own : []) {
      for (const step of changes) {
        const { before, after } = step
        const isPaid = before?.status === 'pending' && after && (after.paid ?? 0) > 0
        if (!isPaid || before.paid !== null) continue
        const seenAt = startedAt(observations, step) - INDEX_MS
        const ignored = below.find((other) => {
          const isEarlier = other.item.createdAt <= item.createdAt
          const isOpen = isBelowZero(stateAt(other, seenAt)) && isBelowZero(stateAt(other, step.at))
          return isEarlier && isOpen
        })
        if (ignored) report(item.id, `was paid, but ${ignored.item.id} is below zero`)
      }
    }
  }
}

/** The sweep asks about a payout in progress after doubled delays. */
const PROGRESS_MS = 6 * HOUR_MS
const RUNS_MS = 2 * HOUR_MS

/** 42: after the faults, each due batch is paid or rejected. */
const dueBatchesArePaid: Check = ({ batches, observations }, report) => {
  const { healedAt, endedAt, approvals } = observations.setup
  const midnight = Math.floor((endedAt - RUNS_MS) / DAY_MS) * DAY_MS
  if (midnight < healedAt) return
  for (const { item, changes } of batches.values()) {
    const since = changes.findLast(({ before, after }) => before?.status !== after?.status)?.at ?? 0
    const isDue = startOf(item.date) + DAY_MS <= midnight && since < midnight - INDEX_MS
    const isPayable = (item.totals?.net ?? -1) >= 0 && item.status === 'pending'
    if (isDue && isPayable && !approvals) report(item.id, 'is due, but was not paid')
    const isUnsealed = !item.reportedAt && startOf(item.date) <= midnight
    if (isUnsealed) report(item.id, 'was never finished')
    if (item.status === 'processing' && endedAt - Math.max(since, healedAt) > PROGRESS_MS) {
      report(item.id, 'is being paid since its faults ended')
    }
  }
}

export const batchesEnd = allOf(payoutsOffset, dueBatchesArePaid)
