import { type Debit, deadline, type Phase } from '../domain/debits/debit.ts'
import { clocks } from '../domain/debits/lifecycle.ts'
import type { Reference } from '../domain/ids.ts'
import { isHeldBy, type Restore } from '../domain/operator/restore.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch } from '../domain/settlement/batch.ts'
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
import { graceElapsed, repair, repairEvents } from './repair.ts'

/** Everything that somebody was to look at by now, because what it waits for did not happen. */

/** Looked at together; what a run cannot do in its time, the next one finds. */
const TOGETHER = 25

/** A timer that does its work comes first. */
const TIMER_SECONDS = 15

/** An item that cannot be read waits for an operator. */
const UNREADABLE_SECONDS = 3_600

const PHASES: readonly Phase[] = ['approval', 'processing']

/** @param isOver whether the time of this run is used up */
export const sweepOverdue = async (runtime: Runtime, isOver: () => boolean): Promise<void> => {
  const turn = { runtime, isOver, restore: await findRestore() }
  await Promise.all(shards.map((shard) => lookAfterShard(shard, turn)))
}

type Turn = { runtime: Runtime; isOver: () => boolean; restore: Restore | undefined }

const lookAfterShard = async (shard: number, turn: Turn): Promise<void> => {
  const { runtime } = turn
  const seen = new Set<string>()
  while (!turn.isOver()) {
    const due = await listDue(shard, runtime.now(), seen.size + TOGETHER)
    // An index that is late shows again what was looked at.
    const fresh = due.filter(({ key, due }) => !seen.has(`${key.pk}${key.sk}${due}`))
    if (fresh.length === 0) return
    for (const { key, due } of fresh) seen.add(`${key.pk}${key.sk}${due}`)
    // One that faults is told and left for another minute, and the others are looked after.
    const subjects = fresh.map(({ key }) => key.pk)
    await telling(subjects, () => lookAfterDebits(fresh, turn))
    for (const watched of fresh) {
      await telling([watched.key.pk], () => lookAfterRetry(watched, turn))
    }
  }
}

const telling = async (subject: string[], look: () => Promise<void>): Promise<void> => {
  try {
    await look()
  } catch (error) {
    log.error('fault', { job: 'sweep', subject, error: error as Error })
  }
}

const lookAfterDebits = async (
  due: readonly WorkItem[],
  { runtime, restore }: Turn,
): Promise<void> => {
  const watched = new Map<Reference, WorkItem>(
    due.flatMap((one) => (one.about.kind === 'debit' ? [[one.about.reference, one]] : [])),
  )
  const unreadable: Reference[] = []
  const found = await findDebits([...watched.keys()], (reference, error) => {
    unreadable.push(reference)
    logUnreadable('sweep')(reference, error)
  })
  // It stays so for a while, and must not be in front of all others each minute.
  for (const reference of unreadable) {
    const own = watched.get(reference)
    if (own) await reschedule(own, secondsAfter(runtime.now(), UNREADABLE_SECONDS))
  }
  const debits = [...found.values()]
  const ended = await Promise.all(
    debits.map(async (debit) => {
      return !isHeldBy(restore, debit.facts.provider) && (await endOverdue(debit, runtime))
    }),
  )
  // A debit that was moved has a look of its own coming.
  const left = debits.filter((_, n) => !ended[n])
  const look = async (some: readonly Debit[]) => {
    const now = runtime.now()
    const missing = await repair(some, now)
    for (const debit of some) {
      const own = watched.get(debit.facts.reference)
      if (own) await reschedule(own, nextLook(debit, missing.has(debit.facts.reference), now))
    }
  }
  try {
    await look(left)
  } catch {
    // One by one, so that one that faults hides no other.
    for (const debit of left) await telling([debit.facts.reference], () => look([debit]))
  }
}

const deadlineOf = (debit: Debit, phase: Phase): Date | undefined =>
  deadline(debit, phase, clocks(environment.timeScale))

/** Expires a debit whose deadline has passed. One debit that faults does not keep others open. */
const endOverdue = async (debit: Debit, runtime: Runtime): Promise<boolean> => {
  const at = runtime.now()
  const phase = PHASES.find((one) => {
    const due = deadlineOf(debit, one)
    return due !== undefined && due <= at
  })
  if (!phase) return false
  const cause = { at, by: 'job:sweep', requestId: runtime.newId() }
  await telling([debit.facts.reference], async () => {
    await expire(debit, phase, cause, runtime)
  })
  return true
}

const secondsAfter = (at: Date, seconds: number): Date => new Date(at.getTime() + seconds * 1000)

/** What was done anew is looked at after twice the time, so that a busy queue is not filled up. */
const doubled = (since: Date, now: Date): Date =>
  secondsAfter(now, Math.max(SWEEP_GRACE_SECONDS, (now.getTime() - since.getTime()) / 1000))

/** When a debit is to be looked at again; undefined: nothing more can be missing. */
const nextLook = (debit: Debit, wasMissing: boolean, now: Date): Date | undefined => {
  const since = debit.history.at(-1)?.at ?? now
  const looks = [
    ...(wasMissing || !graceElapsed(since, now) ? [doubled(since, now)] : []),
    ...PHASES.flatMap((phase) => deadlineOf(debit, phase) ?? []).map((due) =>
      secondsAfter(due, TIMER_SECONDS),
    ),
  ]
  const [next] = looks.sort((a, b) => a.getTime() - b.getTime())
  return next && next <= now ? nextRun(now) : next
}

/** The sweep checks held items once in each run. */
const nextRun = (now: Date): Date => secondsAfter(now, 30)

/** Sends the overdue message of an attempt, a recovery, a batch or a refund again. */
const lookAfterRetry = async (watched: WorkItem, { runtime, restore }: Turn): Promise<void> => {
  const { about } = watched
  if (about.kind === 'debit') return
  const now = runtime.now()
  const expected = await expectedOf(about, now)
  if (!expected) {
    await reschedule(watched, undefined)
    return
  }
  if (expected.paysFor && isHeldBy(restore, expected.paysFor)) {
    await reschedule(watched, nextRun(now))
    return
  }
  await sendAllOrThrow(expected.outgoing)
  await reschedule(watched, doubled(expected.at, now))
}

/** A payment begins a day after its batch was opened, and its bank is not to be asked so late. */
const begunAt = ({ processedAt, createdAt }: Pick<Batch, 'processedAt' | 'createdAt'>): Date =>
  processedAt ?? createdAt

type Expected = {
  outgoing: Outgoing[]
  at: Date
  /** The provider for whom it has a bank pay, which a restore may hold. */
  paysFor?: ProviderId | undefined
}

const expectedOf = async (
  about: Exclude<WorkItem['about'], { kind: 'debit' }>,
  now: Date,
): Promise<Expected | undefined> => {
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
      const isLeft = await findBuild(provider, date)
      return isLeft && { outgoing: [buildBatchMessage(provider, date)], at: now }
    }
    case 'refund': {
      const refund = await findRefund(about.reference)
      const outgoing = refund ? refundMessages(refund) : []
      return refund && outgoing.length > 0
        ? { outgoing, at: begunAt(refund), paysFor: refund.provider }
        : undefined
    }
    case 'batch': {
      const batch = await findBatch(about.id)
      const told = batch && settlementEvent(batch)
      if (told && (await repairEvents([told], now)).size > 0) return { outgoing: [], at: told.at }
      const outgoing = batch ? resumeBatch(batch) : []
      const paysFor = batch?.status === 'processing' ? batch.provider : undefined
      return batch && outgoing.length > 0 ? { outgoing, at: begunAt(batch), paysFor } : undefined
    }
  }
}
