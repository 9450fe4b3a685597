import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Runtime } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { followOpen } from '../store/debits/open-debits.ts'
import { findRestore } from '../store/operator/restores.ts'
import { listProviders } from '../store/providers/providers.ts'
import { loadSweepProgress, putSweepProgress, sweptBefore } from '../store/sweep-progress.ts'
import { reschedule } from '../store/work-index.ts'
import { sweepBanks } from './banks.ts'
import { checkDailyUse, isUseDue } from './daily-use.ts'
import { type DueDebit, nextRun, nextSweep, postponeDebits, sweepOverdue } from './overdue.ts'
import { type CheckedDebit, logFault, type Repair, repair } from './repair.ts'
import { walk } from './walk.ts'

/**
 * The walk is so far behind the clock that it lists every debit: an invocation takes up to 60 s from
 * its time to its write, an index is up to a minute late, and clocks differ by seconds.
 */
const BEHIND_MS = 150_000

// The parts of a run, in milliseconds from its start. The last one ends within the function's timeout.
const BANKS_MS = 15_000
const OVERDUE_MS = 20_000
const WALK_MS = 30_000
const CREATED_MS = 34_000
const FEED_MS = 42_000

const PROVIDERS_AT_ONCE = 8
const WRITES_AT_ONCE = 10

type ProviderRun = {
  resumed: ReadonlySet<Reference>
  due: readonly DueDebit[]
  span: { from: Date; before: Date }
  runtime: Runtime
  /** Returns whether the run has taken some milliseconds. */
  after: (ms: number) => () => boolean
}

/**
 * Resumes the debits of banks that reply again. Repairs what was lost: overdue items of the work index,
 * then the debits of the time since the last run, provider by provider.
 * @returns the seconds since the time before which all debits were checked
 */
export const sweepAll = async (runtime: Runtime): Promise<number> => {
  const start = runtime.now().getTime()
  const after = (ms: number) => () => runtime.now().getTime() - start >= ms
  const [restore, progress] = await Promise.all([findRestore(), loadSweepProgress()])
  const resumed = await sweepBanks(runtime, after(BANKS_MS))
  const overdue = await sweepOverdue({ runtime, restore, timeIsUp: after(OVERDUE_MS) })
  const dueOf = Map.groupBy(overdue, ({ debit }) => debit.facts.provider)
  const listed = await listProviders()
  const before = new Date(Math.max(start - BEHIND_MS, progress?.until.getTime() ?? 0))
  const reached = new Map(progress?.behind)
  const providers = [...new Set([...listed, ...dueOf.keys()])]
    .map((provider) => ({ provider, from: sweptBefore(progress, provider) }))
    // A run that ends early then begins with the providers that it left out.
    .sort((a, b) => a.from.getTime() - b.from.getTime())
  await mapConcurrent(providers, PROVIDERS_AT_ONCE, async ({ provider, from }) => {
    const due = dueOf.get(provider) ?? []
    const run = { resumed, due, span: { from, before }, runtime, after }
    try {
      reached.set(provider, await sweepProvider(provider, run))
    } catch (error) {
      reached.set(provider, from)
      logFault(provider, error)
      await postponeDebits(due, runtime.now())
    }
  })
  const previous = progress?.until
  if (isUseDue(previous, before)) await checkDailyUse(listed, { previous, now: runtime.now() })
  const behind = new Map([...reached].filter(([, until]) => until < before))
  await putSweepProgress({ until: before, behind })
  const oldest = Math.min(before.getTime(), ...[...behind.values()].map((at) => at.getTime()))
  return (runtime.now().getTime() - oldest) / 1000
}

/** Repairs a provider's debits with one read of its feed. Returns the time before which it has. */
const sweepProvider = async (
  provider: ProviderId,
  { resumed, due, span, runtime, after }: ProviderRun,
): Promise<Date> => {
  const known = new Set(due.map(({ debit }) => debit.facts.reference))
  const timeIsUp = after(WALK_MS)
  const { open, ended, until } =
    span.from < span.before && !timeIsUp()
      ? await walk({ provider, span, known, runtime, timeIsUp, createdTimeIsUp: after(CREATED_MS) })
      : { open: [], ended: [], until: span.from }
  const now = runtime.now()
  let repaired: Repair | undefined
  try {
    repaired = await repair(provider, [...due, ...open, ...ended], now, {
      timeIsUp: after(FEED_MS),
      resumed,
    })
  } finally {
    // Also after a fault, so that no fault of events keeps an open debit from its timeout.
    await follow(open, repaired, now)
  }
  const { missing, failed } = repaired
  await mapConcurrent(due, WRITES_AT_ONCE, async ({ debit, item }) => {
    const { reference } = debit.facts
    if (failed.has(reference)) return
    await reschedule(item, nextSweep(debit, missing.has(reference), now))
  })
  await postponeDebits(
    due.filter(({ debit }) => failed.has(debit.facts.reference)),
    now,
  )
  return ended.some(({ debit }) => failed.has(debit.facts.reference)) ? span.from : until
}

/** Makes open debits due in the work index: the sweep then follows them until they end. */
export const follow = (open: readonly CheckedDebit[], repaired: Repair | undefined, now: Date) =>
  mapConcurrent(open, WRITES_AT_ONCE, ({ debit }) => {
    const { reference } = debit.facts
    const isRepaired = repaired?.failed.has(reference) === false
    const wasMissing = repaired?.missing.has(reference) ?? true
    return followOpen(debit, (current) => {
      const next = isRepaired ? nextSweep(current, wasMissing, now) : undefined
      return next ?? nextRun(now)
    })
  })
