import { type Debit, deadline, type Phase } from '../domain/debits/debit.ts'
import { clocks } from '../domain/debits/lifecycle.ts'
import type { Reference } from '../domain/ids.ts'
import { isHeldBy, type Restore } from '../domain/operator/restore.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { secondsAfter } from '../domain/time.ts'
import { log, logUnreadable } from '../log.ts'
import {
  buildBatchMessage,
  nextAttempt,
  nextPage,
  refundMessages,
  resumeBatch,
} from '../queues/outbox.ts'
import { type Outgoing, sendAllOrThrow } from '../queues/send.ts'
import { environment, type Runtime } from '../runtime.ts'
import { findDebits } from '../store/debits/debits.ts'
import { findRefund } from '../store/debits/refunds.ts'
import { findRestore } from '../store/operator/restores.ts'
import { findBatch } from '../store/settlement/batches.ts'
import { findBuild } from '../store/settlement/build-lease.ts'
import { findDelivery } from '../store/webhooks/deliveries.ts'
import { findRecovery } from '../store/webhooks/recoveries.ts'
import {
  listDue,
  reschedule,
  SWEEP_GRACE_SECONDS,
  shards,
  type WorkItem,
} from '../store/work-index.ts'
import { settlementEvent } from '../views/webhook-payload.ts'
import { expire } from './expire.ts'
import { expectedOfRun } from './reconciliation.ts'
import { graceElapsed, repair, repairEvents } from './repair.ts'

const PAGE_SIZE = 25

/** The delay of a sweep after a deadline: the timer of the deadline runs first. */
const TIMER_SECONDS = 15

/** The delay of an item that cannot be read until the next run that tries it. */
const UNREADABLE_SECONDS = 3_600

const PHASES: readonly Phase[] = ['approval', 'processing']

/** Sweeps all items of the work index that are due. The next run continues when the time is up. */
export const sweepOverdue = async (runtime: Runtime, timeIsUp: () => boolean): Promise<void> => {
  const run = { runtime, timeIsUp, restore: await findRestore() }
  await Promise.all(shards.map((shard) => sweepShard(shard, run)))
}

type SweepRun = { runtime: Runtime; timeIsUp: () => boolean; restore: Restore | undefined }

const sweepShard = async (shard: number, run: SweepRun): Promise<void> => {
  const { runtime } = run
  const swept = new Set<string>()
  while (!run.timeIsUp()) {
    const due = await listDue(shard, runtime.now(), swept.size + PAGE_SIZE)
    // The index is eventually consistent: it can list swept items again.
    const fresh = due.filter(({ key, due }) => !swept.has(`${key.pk}${key.sk}${due}`))
    if (fresh.length === 0) return
    for (const { key, due } of fresh) swept.add(`${key.pk}${key.sk}${due}`)
    const subjects = fresh.map(({ key }) => key.pk)
    await logFailures(subjects, () => sweepDebits(fresh, run))
    for (const item of fresh) await logFailures([item.key.pk], () => sweepRetry(item, run))
  }
}

/** Logs a fault and continues with the other items. The next run retries the failed one. */
const logFailures = async (subject: string[], work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    log.error('fault', { job: 'sweep', subject, error: error as Error })
  }
}

const sweepDebits = async (due: readonly WorkItem[], { runtime, restore }: SweepRun) => {
  const items = new Map<Reference, WorkItem>(
    due.flatMap((item) => (item.about.kind === 'debit' ? [[item.about.reference, item]] : [])),
  )
  const unreadable: Reference[] = []
  const debits = await findDebits([...items.keys()], (reference, error) => {
    unreadable.push(reference)
    logUnreadable('sweep')(reference, error)
  })
  // Otherwise unreadable items would fill the first page of every run.
  for (const reference of unreadable) {
    const item = items.get(reference)
    if (item) await reschedule(item, secondsAfter(runtime.now(), UNREADABLE_SECONDS))
  }
  const isExpired = await Promise.all(
    [...debits.values()].map(
      async (debit) =>
        !isHeldBy(restore, debit.facts.provider) && (await expireOverdue(debit, runtime)),
    ),
  )
  // The transition of an expired debit has scheduled the debit again.
  const remaining = [...debits.values()].filter((_, index) => !isExpired[index])
  const repairAndReschedule = async (batch: readonly Debit[]) => {
    const now = runtime.now()
    const missing = await repair(batch, now)
    for (const debit of batch) {
      const item = items.get(debit.facts.reference)
      if (item) await reschedule(item, nextSweep(debit, missing.has(debit.facts.reference), now))
    }
  }
  try {
    await repairAndReschedule(remaining)
  } catch {
    // Retried one by one, so that one fault does not block the others.
    for (const debit of remaining) {
      await logFailures([debit.facts.reference], () => repairAndReschedule([debit]))
    }
  }
}

const deadlineOf = (debit: Debit, phase: Phase): Date | undefined =>
  deadline(debit, phase, clocks(environment.timeScale))

/** Expires a debit whose deadline has passed. Logs a fault, so that the others still expire. */
const expireOverdue = async (debit: Debit, runtime: Runtime): Promise<boolean> => {
  const at = runtime.now()
  const phase = PHASES.find((candidate) => {
    const due = deadlineOf(debit, candidate)
    return due !== undefined && due <= at
  })
  if (!phase) return false
  const cause = { at, by: 'job:sweep', requestId: runtime.newId() }
  await logFailures([debit.facts.reference], async () => {
    await expire(debit, phase, cause, runtime)
  })
  return true
}

/** Doubles the interval after each repeat, so that repeats do not flood a busy queue. */
const doubled = (since: Date, now: Date): Date =>
  secondsAfter(now, Math.max(SWEEP_GRACE_SECONDS, (now.getTime() - since.getTime()) / 1000))

/** Returns when to sweep a debit again; undefined if nothing more can be missing. */
const nextSweep = (debit: Debit, wasMissing: boolean, now: Date): Date | undefined => {
  const since = debit.history.at(-1)?.at ?? now
  const times = [
    ...(wasMissing || !graceElapsed(since, now) ? [doubled(since, now)] : []),
    ...PHASES.flatMap((phase) => deadlineOf(debit, phase) ?? []).map((due) =>
      secondsAfter(due, TIMER_SECONDS),
    ),
  ]
  const [next] = times.sort((a, b) => a.getTime() - b.getTime())
  return next && next <= now ? nextRun(now) : next
}

/** Held items are due again in the next run. */
const nextRun = (now: Date): Date => secondsAfter(now, 30)

/** Sends the overdue message of an attempt, a recovery, a batch or a refund again. */
const sweepRetry = async (item: WorkItem, { runtime, restore }: SweepRun): Promise<void> => {
  const { about } = item
  if (about.kind === 'debit') return
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
  about: Exclude<WorkItem['about'], { kind: 'debit' }>,
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
      if (event && (await repairEvents([event], now)).size > 0)
        return { outgoing: [], at: event.at }
      const outgoing = batch ? resumeBatch(batch) : []
      const paysFor = batch?.status === 'processing' ? batch.provider : undefined
      return batch && outgoing.length > 0 ? { outgoing, at: begunAt(batch), paysFor } : undefined
    }
  }
}
