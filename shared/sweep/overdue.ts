import { type Debit, deadline, type Phase } from '../domain/debits/debit.ts'
import { clocks } from '../domain/debits/timeouts.ts'
import type { Reference } from '../domain/ids.ts'
import { isHeldBy, type Restore } from '../domain/operator/restore.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { type Batch, payoutOf } from '../domain/settlement/batch.ts'
import { secondsAfter } from '../domain/time.ts'
import type { ProviderEvent } from '../domain/webhooks/event.ts'
import { logUnreadable } from '../log.ts'
import {
  buildBatchMessage,
  expiry,
  nextAttempt,
  nextPage,
  refundMessages,
  resumeBatch,
} from '../queues/outbox.ts'
import { type Outgoing, sendAllOrThrow } from '../queues/send.ts'
import { environment, type Runtime } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { findRefund } from '../store/debits/refunds.ts'
import { keys } from '../store/keys.ts'
import { findBatch } from '../store/settlement/batches.ts'
import { findBuild } from '../store/settlement/build-lease.ts'
import { findDelivery, findWithDeliveries } from '../store/webhooks/deliveries.ts'
import { findRecovery } from '../store/webhooks/recoveries.ts'
import {
  doubled,
  listDue,
  postpone,
  reschedule,
  shards,
  type WorkItem,
} from '../store/work-index.ts'
import { settlementEvent } from '../views/webhook-payload.ts'
import { sweepErasure } from './erasure.ts'
import { expectedOfRun } from './reconciliation.ts'
import { type CheckedDebit, graceElapsed, repairEvents, withFaults } from './repair.ts'

/** The items of a shard that one run checks; the next run continues. */
const ITEMS_MAX = 500
const DEBITS_AT_ONCE = 8

/** The delay of a sweep after a deadline: the timer of the deadline runs first. */
const TIMER_SECONDS = 15

/** The delay of an item that cannot be read until the next run that tries it. */
export const UNREADABLE_SECONDS = 3_600

const PHASES: readonly Phase[] = ['approval', 'processing']

type SweepRun = { runtime: Runtime; restore: Restore | undefined; timeIsUp: () => boolean }

/** A due debit that is not overdue, with its place in the work index. */
export type DueDebit = CheckedDebit & { item: WorkItem }

/**
 * Sweeps the items of the work index that are due: sends the timeouts of debits, and the messages of others.
 * @returns the debits whose follow-up work must be checked before they are rescheduled
 */
export const sweepOverdue = async (run: SweepRun): Promise<DueDebit[]> => {
  const remaining: DueDebit[] = []
  const now = run.runtime.now()
  const sweepItem = async (item: WorkItem): Promise<void> => {
    const { about, key } = item
    if (!about) throw new Error(`Unknown kind of work item: ${key.sk}`)
    if (about.kind === 'erasure') return sweepErasure(item, run.runtime)
    if (about.kind !== 'debit') return sweepRetry({ ...item, about }, run)
    const debit = await sweepDebit(item, about.reference, run)
    if (debit) remaining.push(debit)
  }
  const sweepShard = async (shard: number): Promise<void> => {
    const due = await listDue(shard, now, ITEMS_MAX)
    await mapConcurrent(due, DEBITS_AT_ONCE, async (item) => {
      if (run.timeIsUp()) return
      await withFaults(
        item.key.pk,
        () => sweepItem(item),
        () => postpone(item, now),
      )
    })
  }
  await Promise.all(
    shards.map((shard) => withFaults(keys.workShard(shard), () => sweepShard(shard))),
  )
  return remaining
}

/** Delays due debits whose repair failed, at most until their next deadline. */
export const postponeDebits = async (due: readonly DueDebit[], now: Date): Promise<void> => {
  await mapConcurrent(due, DEBITS_AT_ONCE, ({ debit, item }) =>
    withFaults(item.key.pk, () => postpone(item, now, nextSweep(debit, false, now))),
  )
}

/** Returns a due debit, unless its deadline has passed: then sends the timeout. */
const sweepDebit = async (
  item: WorkItem,
  reference: Reference,
  { runtime, restore }: SweepRun,
): Promise<DueDebit | undefined> => {
  let isUnreadable = false
  const unreadable = (subject: string, error: Error) => {
    isUnreadable = true
    logUnreadable('sweep')(subject, error)
  }
  const { debit, deliveries } = await findWithDeliveries(reference, { unreadable })
  // Otherwise unreadable items would fill the first page of every run.
  if (isUnreadable) await reschedule(item, secondsAfter(runtime.now(), UNREADABLE_SECONDS))
  if (!debit) return undefined
  if (!isHeldBy(restore, debit.facts.provider)) {
    const now = runtime.now()
    const phase = overduePhase(debit, now)
    if (phase) {
      await sendAllOrThrow([expiry({ reference, phase })])
      // Doubles from the first message: a restore may have held the debit for hours since its deadline.
      await postpone(item, now)
      return undefined
    }
  }
  return { debit, deliveries, item }
}

/** Returns when the sweep may send the timeout of a debit. */
const sweptAt = (debit: Debit, phase: Phase): Date | undefined => {
  const due = deadline(debit, phase, clocks(environment.timeScale))
  return due && secondsAfter(due, TIMER_SECONDS)
}

const overduePhase = (debit: Debit, now: Date): Phase | undefined =>
  PHASES.find((phase) => {
    const at = sweptAt(debit, phase)
    return at !== undefined && at <= now
  })

/** Returns when to sweep a debit again; undefined if nothing more can be missing. */
export const nextSweep = (debit: Debit, wasMissing: boolean, now: Date): Date | undefined => {
  const since = debit.history.at(-1)?.at ?? now
  const times = [
    ...(wasMissing || !graceElapsed(since, now) ? [doubled(since, now)] : []),
    ...PHASES.flatMap((phase) => sweptAt(debit, phase) ?? []),
  ]
  const [next] = times.sort((a, b) => a.getTime() - b.getTime())
  return next && next <= now ? nextRun(now) : next
}

/** Held items are due again in the next run. */
export const nextRun = (now: Date): Date => secondsAfter(now, 30)

type RetryItem = WorkItem & {
  about: Exclude<WorkItem['about'], { kind: 'debit' | 'erasure' } | undefined>
}

/** Sends the overdue message of an attempt, a recovery, a batch or a refund again. */
const sweepRetry = async (item: RetryItem, { runtime, restore }: SweepRun): Promise<void> => {
  const { about } = item
  const now = runtime.now()
  const expected = await expectedOf(about, now)
  if (!expected) {
    await reschedule(item, undefined)
    return
  }
  if (expected.paysFor && isHeldBy(restore, expected.paysFor)) {
    await reschedule(item, nextRun(now))
    return
  }
  await sendAllOrThrow(expected.outgoing)
  await reschedule(item, doubled(expected.at, now))
}

/** Returns when a payment or refund began: `doubled` must not count the day before a batch is paid. */
const begunAt = ({ processedAt, createdAt }: Pick<Batch, 'processedAt' | 'createdAt'>): Date =>
  processedAt ?? createdAt

type ExpectedWork = {
  outgoing: Outgoing[]
  at: Date
  /** The provider of a payout or refund, which a restore may hold. */
  paysFor?: ProviderId | undefined
}

const expectedOf = async (
  about: RetryItem['about'],
  now: Date,
): Promise<ExpectedWork | undefined> => {
  switch (about.kind) {
    case 'delivery': {
      const delivery = await findDelivery(about.reference, about.n)
      const at = delivery?.nextAttemptAt
      return delivery && at ? { outgoing: nextAttempt(delivery, now), at } : undefined
    }
    case 'recovery': {
      const recovery = await findRecovery(about.provider, about.id)
      return recovery?.status === 'running'
        ? { outgoing: nextPage(recovery, now), at: recovery.runAt }
        : undefined
    }
    case 'build': {
      const { provider, date } = about
      const build = await findBuild(provider, date)
      return build && { outgoing: [buildBatchMessage(provider, date)], at: now }
    }
    case 'reconciliation':
      return expectedOfRun(about, now)
    case 'refund': {
      const refund = await findRefund(about.reference)
      const outgoing = refund ? refundMessages(refund) : []
      return refund && outgoing.length > 0
        ? { outgoing, at: begunAt(refund), paysFor: refund.provider }
        : undefined
    }
    case 'batch': {
      const batch = await findBatch(about.id)
      const event = batch && settlementEvent(batch)
      if (event && (await isRepaired(event, now))) return { outgoing: [], at: event.at }
      const outgoing = batch ? resumeBatch(batch) : []
      const paysFor = batch && payoutOf(batch) === 'resumes' ? batch.provider : undefined
      return batch && outgoing.length > 0 ? { outgoing, at: begunAt(batch), paysFor } : undefined
    }
  }
}

/** Repairs the event of a batch. Returns false if nothing was missing. */
const isRepaired = async (event: ProviderEvent, now: Date): Promise<boolean> => {
  const isRecorded = (await findDelivery(event.reference, event.n)) !== undefined
  const { missing } = await repairEvents(event.provider, [{ ...event, isRecorded }], now)
  return missing.size > 0
}
