import type { BatchId } from '../domain/ids.ts'
import { isHeldBy } from '../domain/operator/restore.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { addBalances } from '../domain/settlement/ledger-entry.ts'
import { type Day, dayAfter } from '../domain/time.ts'
import type { Runtime } from '../runtime.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { findRestore } from '../store/operator/restores.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findBatches, listFailed, listPayable } from '../store/settlement/batches.ts'
import { findClosing } from '../store/settlement/ledger-days.ts'
import * as store from '../store/settlement/reconciliations.ts'
import { listedFrom } from './batches.ts'
import { checkTotal } from './day-total.ts'
import { earlierTasks } from './debits.ts'
import { newFindings } from './findings.ts'
import { compareLedger, type ProviderSums } from './ledger-checks.ts'
import { newResult, resultFromText, type StoredPart, type Task } from './part.ts'
import { type Window, windowOf } from './records.ts'
import { addAmounts, noAmounts } from './sums.ts'

/**
 * Checks the debits of a day, their related items, totals and batches, and the ledger
 * (docs/api.md#reconciliation). Computes everything again from the table and repairs nothing: an
 * operator must know the cause first. A run consists of parts, which any number of workers perform.
 */

/** The part for items that are listed for all providers together. */
const SHARED_PART = '*'

const PARTS_AT_ONCE = 16

/** Missed days that a night recomputes: fewer than those for which runs are kept. */
const NIGHTS_MAX = 30

/**
 * Returns a day and those before it that have no nightly run, from the day of the last run, whose creation
 * may have been interrupted. After a longer gap only the day itself.
 */
export const daysToReconcile = async (until: Day): Promise<Day[]> => {
  const days = [until]
  for (let day = until; !(await store.findRun(day)); ) {
    if (days.length - 1 > NIGHTS_MAX) return [until]
    day = dayAfter(day, -1)
    days.unshift(day)
  }
  return days
}

/** Creates a run and its first parts; repeating it creates those that are missing. */
export const startRun = async (id: string, date: Day, runtime: Pick<Runtime, 'now' | 'newId'>) => {
  const run = (await store.findRun(id)) ?? (await newRun(id, date, runtime))
  if (run.endedAt) return
  const window = await windowFor(run)
  const [unpaid, providers] = await Promise.all([olderUnpaid(window), store.findProviders(run)])
  const unpaidOf = (provider: ProviderId) => (unpaid.get(provider) ?? []).map(({ id }) => id)
  const parts: [string, Task[]][] = [
    [SHARED_PART, [{ type: 'exceptions' }, { type: 'refunds' }]],
    ...providers.map((one): [string, Task[]] => [one, tasksOf(window, unpaidOf(one))]),
  ]
  await mapConcurrent(parts, PARTS_AT_ONCE, ([part, tasks]) =>
    store.createPart({ id: part, run: id, tasks: JSON.stringify(tasks) }, run.startedAt),
  )
}

const newRun = async (id: string, date: Day, { now, newId }: Pick<Runtime, 'now' | 'newId'>) => {
  const startedAt = now()
  const [providers, closing] = await Promise.all([listProviders(), findClosing(dayAfter(date, -1))])
  const run = {
    ...{ id, date, startedAt, providers, carriedFrom: closing?.day ?? null },
    ...{ openParts: providers.length + 1, endedAt: null },
  }
  const created = await store.createRun(run, newId())
  const stored = created ?? (await store.findRun(id))
  if (!stored) throw new Error(`There is no run ${id}`)
  return stored
}

export const windowFor = async ({ date, startedAt }: store.ReconciliationRun): Promise<Window> => ({
  ...windowOf(date, startedAt),
  restore: await findRestore(),
})

const tasksOf = (window: Window, unpaid: readonly BatchId[]): Task[] => [
  { type: 'total' },
  { type: 'debits', from: window.from.getTime(), before: window.before.getTime() },
  { type: 'feed' },
  ...earlierTasks(window),
  { type: 'batches', unpaid },
  ...(window.now < window.before ? [] : [{ type: 'ledger' } as const]),
]

/** Returns the batches of each provider that are due or failed and too old for its list. */
const olderUnpaid = async ({ date, now }: Window): Promise<Map<ProviderId, Batch[]>> => {
  const ids = (await Promise.all([listPayable(now), listFailed(now)])).flat()
  const first = listedFrom(date).replaceAll('-', '')
  const older = ids.filter((id) => (id.split('-')[1] ?? '') < first)
  return Map.groupBy(await findBatches(older), ({ provider }) => provider)
}

export type Reconciliation = Awaited<ReturnType<typeof resultOf>>

/** Combines the parts of a run, and compares what concerns all of a provider or all providers. */
export const resultOf = async (run: store.ReconciliationRun) => {
  const window = await windowFor(run)
  const { date, restore } = window
  const findings = newFindings(Number.POSITIVE_INFINITY)
  const amounts = noAmounts()
  const providers = new Map<ProviderId, DaySums>()
  for await (const part of store.partsOf(run.id)) {
    const result = resultFromText(part.findings ?? '')
    findings.merge(result.findings)
    addAmounts(amounts, result.amounts)
    const [provider = ''] = part.id.split('#')
    if (provider === SHARED_PART) continue
    const sums = providers.get(provider as ProviderId) ?? newSums()
    providers.set(provider as ProviderId, sums)
    addSums(sums, result)
  }
  await mapConcurrent([...providers], PARTS_AT_ONCE, ([provider, { amounts, total: first }]) =>
    checkTotal(provider, { sum: amounts.counted, first }, window, findings),
  )
  await compareLedger({ run, window, providers, findings })
  const invariants = findings.list()
  const differences = invariants.reduce((sum, finding) => sum + finding.differences, 0)
  // Their timeouts, payouts and refunds wait.
  const held = [...providers.keys()].filter((provider) => isHeldBy(restore, provider))
  return { date, checkedAt: window.now, invariants, amounts, differences, held }
}

type DaySums = ProviderSums & { total?: number | null | undefined }

const newSums = (): DaySums => {
  const { amounts, ledger } = newResult()
  return { amounts, ledger }
}

const addSums = (sums: DaySums, { amounts, ledger, total }: StoredPart): void => {
  addAmounts(sums.amounts, amounts)
  addBalances(sums.ledger.carried, ledger.carried)
  addBalances(sums.ledger.posted, ledger.posted)
  addBalances(sums.ledger.collected, ledger.collected)
  sums.ledger.isFailed ||= ledger.isFailed
  if (ledger.read) sums.ledger.read = ledger.read
  if (total !== undefined) sums.total = total
}
