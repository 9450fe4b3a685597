import type { ProviderId } from '../domain/providers/provider.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { followOpen } from '../store/debits/open-debits.ts'
import { findRestore } from '../store/operator/restores.ts'
import { listProviders } from '../store/providers/providers.ts'
import {
  findSweepProgress,
  putSweepProgress,
  type SweepProgress,
  sweptBefore,
} from '../store/sweep-progress.ts'
import { reschedule } from '../store/work-index.ts'
import { type DueDebit, nextRun, nextSweep, sweepOverdue } from './overdue.ts'
import { inParallel } from './parallel.ts'
import { repair } from './repair.ts'
import { walk } from './walk.ts'

/**
 * The walk is so far behind the clock that it lists every debit: an invocation takes up to 60 s from
 * its time to its write, an index is up to a minute late, and clocks differ by seconds.
 */
const BEHIND_MS = 150_000

// The parts of a run, in milliseconds from its start. The last one ends within the function's timeout.
const OVERDUE_MS = 20_000
const WALK_MS = 30_000

const PROVIDERS_AT_ONCE = 8
const WRITES_AT_ONCE = 10

type Span = { progress: SweepProgress | undefined; before: Date }

type ProviderRun = {
  due: readonly DueDebit[]
  span: Span
  runtime: Runtime
  timeIsUp: () => boolean
}

/**
 * Repairs what was lost: overdue items of the work index, then the debits of the time since the last
 * run, provider by provider.
 * @returns the seconds since the time before which all debits were checked
 */
export const sweepAll = async (runtime: Runtime): Promise<number> => {
  const start = runtime.now().getTime()
  const after = (ms: number) => () => runtime.now().getTime() - start >= ms
  const [restore, progress] = await Promise.all([findRestore(), findSweepProgress()])
  const overdue = await sweepOverdue({ runtime, restore, timeIsUp: after(OVERDUE_MS) })
  const dueOf = Map.groupBy(overdue, ({ debit }) => debit.facts.provider)
  const listed = await listProviders()
  const before = new Date(Math.max(start - BEHIND_MS, progress?.until.getTime() ?? 0))
  const reached = new Map(progress?.behind)
  const providers = [...new Set([...listed, ...dueOf.keys()])]
    .map((provider) => ({ provider, from: sweptBefore(progress, provider) }))
    // A run that ends early then begins with the providers that it left out.
    .sort((a, b) => a.from.getTime() - b.from.getTime())
  await inParallel(providers, PROVIDERS_AT_ONCE, async ({ provider, from }) => {
    const due = dueOf.get(provider) ?? []
    const run = { due, span: { progress, before }, runtime, timeIsUp: after(WALK_MS) }
    try {
      reached.set(provider, await sweepProvider(provider, run))
    } catch (error) {
      reached.set(provider, from)
      log.error('fault', { job: 'sweep', subject: [provider], error: error as Error })
    }
  })
  const behind = new Map([...reached].filter(([, until]) => until < before))
  await putSweepProgress({ until: before, behind })
  const oldest = Math.min(before.getTime(), ...[...behind.values()].map((at) => at.getTime()))
  return (runtime.now().getTime() - oldest) / 1000
}

/** Repairs a provider's debits with one read of its feed. Returns the time before which it has. */
const sweepProvider = async (
  provider: ProviderId,
  { due, span: { progress, before }, runtime, timeIsUp }: ProviderRun,
): Promise<Date> => {
  const from = sweptBefore(progress, provider)
  const known = new Set(due.map(({ debit }) => debit.facts.reference))
  const walked =
    from < before && !timeIsUp()
      ? await walk({ provider, span: { from, before }, known, runtime, timeIsUp })
      : { open: [], ended: [], until: from }
  const { open, ended, until } = walked
  const now = runtime.now()
  const { missing, failed } = await repair(provider, [...due, ...open, ...ended], now)
  await inParallel(due, WRITES_AT_ONCE, async ({ debit, item }) => {
    const { reference } = debit.facts
    if (failed.has(reference)) return
    await reschedule(item, nextSweep(debit, missing.has(reference), now))
  })
  await inParallel(open, WRITES_AT_ONCE, ({ debit }) => {
    const { reference } = debit.facts
    const next = (current: typeof debit) => nextSweep(current, missing.has(reference), now)
    return followOpen(debit, (current) =>
      failed.has(reference) ? nextRun(now) : (next(current) ?? nextRun(now)),
    )
  })
  return ended.some(({ debit }) => failed.has(debit.facts.reference)) ? from : until
}
