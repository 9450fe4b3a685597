import { sealNight } from '../../shared/audit/seal.ts'
import { dayAfter, HOUR_MS } from '../../shared/domain/time.ts'
import { debtFigures } from '../../shared/ledger/ages.ts'
import { log } from '../../shared/log.ts'
import type { Figures } from '../../shared/metrics.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { performPart } from '../../shared/reconciliation/perform.ts'
import { type Reconciliation, resultOf } from '../../shared/reconciliation/runs.ts'
import { type Runtime, real, timeLimit } from '../../shared/runtime.ts'
import * as store from '../../shared/store/settlement/reconciliations.ts'

/** The rest of the function's time is for the step that has begun. */
const RUN_MS = 300_000

/**
 * Performs a part of a reconciliation. If the time is up first, the stored rest makes the relay request
 * its parts. Without a part, ends the run, whose parts are all stored, and seals the audit of its day.
 * Only nightly runs have messages: an operator's run does its parts itself.
 */
export const reconcilePart = (runtime: Pick<Runtime, 'now' | 'random' | 'pause'>) =>
  consumer('reconciliation-parts', async ({ run: id, part: partId }) => {
    const run = await store.findRun(id)
    if (!run || (run.endedAt && partId !== undefined)) return
    if (partId === undefined) {
      if (run.openParts === 0) await end(run, runtime)
      return
    }
    const part = await store.findPart(id, partId)
    if (!part || part.findings !== undefined) return
    const timeIsUp = timeLimit(runtime, RUN_MS)
    await performPart(run, part, runtime, { timeIsUp })
  })

/**
 * Reports whether the run of the day before is in time and not sealed yet. This seal would seal that day without its
 * result. For a late run no other waits: the sweep requests their ends.
 */
const overtakes = async ({ date }: store.ReconciliationRun, now: Date): Promise<boolean> => {
  const previous = await store.findRun(dayAfter(date, -1))
  if (!previous || previous.sealed) return false
  return now.getTime() - previous.startedAt.getTime() < store.RUN_HOURS_MAX * HOUR_MS
}

/**
 * Ends a run and seals its day, then those of the next day, which may wait for it. A repeat continues where a crash
 * has ended it.
 */
const end = async (run: store.ReconciliationRun, runtime: Pick<Runtime, 'now'>): Promise<void> => {
  if (await overtakes(run, runtime.now())) return
  if (!run.sealed) await endAndSeal(run, runtime)
  const next = await store.findRun(dayAfter(run.date))
  if (next?.openParts === 0 && !next.sealed) await end(next, runtime)
}

const endAndSeal = async (
  run: store.ReconciliationRun,
  runtime: Pick<Runtime, 'now'>,
): Promise<void> => {
  const result = await resultOf(run)
  if (!run.endedAt) {
    // Logged first: a crash in between repeats the log, and loses no difference.
    logReconciliation(result, await debtFigures(run.date))
    await store.endRun(run, runtime.now())
  }
  const { checkedAt, differences } = result
  const invariants = result.invariants.map(({ number, checked, differences }) => ({
    ...{ number, checked, differences },
  }))
  const summary = { checked_at: checkedAt, differences, invariants }
  const sealed = await sealNight({ date: run.date, result: summary }, runtime)
  await store.markSealed(run.id, sealed?.sha256)
}

/** Bounds the log record; the operator command lists more. */
const EXAMPLES_MAX = 10

/** Logs one record per broken invariant and a summary, and counts the differences. */
const logReconciliation = (
  { date, invariants, differences, held }: Reconciliation,
  debts: Figures,
): void => {
  for (const { number, title, checked, differences, examples } of invariants) {
    if (differences === 0) continue
    log.error('reconciliation difference', {
      date,
      invariant: number,
      title,
      checked,
      differences,
      examples: examples.slice(0, EXAMPLES_MAX),
    })
  }
  log.info(
    'day reconciled',
    { date, differences, held },
    { ReconciliationDifferences: differences, ...debts },
  )
}

export const handler = reconcilePart(real)
