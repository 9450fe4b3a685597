import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { manageReconciliation } from '../../functions/operator/manage-reconciliation.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type Day, dayAfter } from '../../shared/domain/time.ts'
import { newFindings } from '../../shared/reconciliation/findings.ts'
import { performPart } from '../../shared/reconciliation/perform.ts'
import { linePages } from '../../shared/reconciliation/read.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { type Reconciliation, resultOf, startRun } from '../../shared/reconciliation/runs.ts'
import { readSlice } from '../../shared/reconciliation/slices.ts'
import { groupsOf } from '../../shared/store/concurrent.ts'
import { keys } from '../../shared/store/keys.ts'
import { listBatchTimes } from '../../shared/store/settlement/batches.ts'
import { chunkId, toChunkItem } from '../../shared/store/settlement/chunk-item.ts'
import { findClosing } from '../../shared/store/settlement/ledger-days.ts'
import * as store from '../../shared/store/settlement/reconciliations.ts'
import type { Span } from '../../shared/store/table.ts'
import { keyOf, put, readCollection, remove } from '../../shared/store/table.ts'
import { numberedLine } from '../settlement/report/one-batch.ts'
import { demoProvider, providerId, still } from '../support/examples.ts'
import { storeProvider } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  at,
  batchOf,
  charged,
  DAY_AFTER,
  overwrite,
  putProviders,
  reconcileLater,
  settle,
  TODAY,
  TOMORROW,
  transitioned,
} from './one-day.ts'

beforeEach(useFreshTable)

const LATER = new Date('2026-11-24T12:00:00.000Z')
const providers = ['large', 'medium', 'small', 'idle'].map(providerId)
const sizes = [60, 20, 5, 0]

const time = (minutes: number): string => new Date(minutes * 60_000).toISOString().slice(11, 19)

/** Ends every fifth debit as failed and leaves every fiftieth open. */
const statusAt = (index: number): Status | undefined => {
  if (index % 50 === 49) return undefined
  return index % 5 === 4 ? 'failed' : 'completed'
}

const debitsOf = async (provider: ProviderId, count: number): Promise<Debit[]> => {
  const debits: Debit[] = []
  for (let index = 0; index < count; index += 1) {
    const minutes = Math.floor((1_400 / count) * index)
    const debit = await charged({ provider }, at(TODAY, time(minutes)))
    const status = statusAt(index)
    const end = at(TODAY, time(minutes + 1))
    debits.push(status ? await transitioned(debit, status, end) : debit)
  }
  return debits
}

/** Writes, settles and partly reverses the debits of several providers, and damages some. */
const severalProviders = async () => {
  await putProviders()
  const { dailyLimit, ...settings } = demoProvider
  for (const id of providers) await storeProvider({ ...settings, id })
  const debits = await Promise.all(
    providers.map((provider, index) => debitsOf(provider, sizes[index] ?? 0)),
  )
  for (const provider of providers.slice(0, 3)) await settle(TOMORROW, provider)
  const completed = debits.flatMap((list) => list.filter(({ status }) => status === 'completed'))
  const reversed = completed.filter((_, index) => index % 6 === 0)
  for (const debit of reversed) await transitioned(debit, 'reversed', at(TOMORROW, '09:00:00'))
  for (const provider of providers.slice(0, 2)) await settle(DAY_AFTER, provider)
  const others = completed.filter((_, index) => index % 6 !== 0)
  return { debits: others, reversed }
}

const damage = async ({ debits, reversed }: Awaited<ReturnType<typeof severalProviders>>) => {
  const damaged = debits.filter((_, index) => index % 7 === 0)
  for (const [index, { facts }] of damaged.entries()) {
    const { reference, provider, partnerReference } = facts
    const faults = [
      () => overwrite(keys.debit(reference), { narration: 'Another' }),
      () => remove(keys.debit(reference)),
      () => remove(keys.partnerReference(provider, partnerReference)),
      () => overwrite(keys.debit(reference), { metadata: '{' }),
      () => overwrite(keys.debit(reference), { 'history.0.by': 'provider:another' }),
    ]
    await faults[index % faults.length]?.()
  }
  for (const { facts } of reversed.slice(0, 4)) await remove(keys.refund(facts.reference))
  await put(keys.dayTotal(providerId('large'), TODAY), 'day-total', { amountTotal: 1 })
}

/** Performs every part twice at the same time, one step each, in another order than they were created. */
const interrupted = async (date: Day, { steps, seed }: { steps: number; seed: number }) => {
  const runtime = still({ now: () => LATER })
  const id = `${date}#${randomUUID()}`
  await Promise.all([startRun(id, date, runtime), startRun(id, date, runtime)])
  const random = randomFrom(seed)
  let parts = 0
  for (;;) {
    const run = (await store.findRun(id)) as store.ReconciliationRun
    if (run.openParts === 0) return { result: await resultOf(run), parts }
    const open: store.ReconciliationPart[] = []
    for await (const part of store.partsOf(id)) if (!part.findings) open.push(part)
    const part = open[Math.floor(random() * open.length)] as store.ReconciliationPart
    const perform = () => {
      let step = 0
      const timeIsUp = () => {
        step += 1
        return step >= steps
      }
      return performPart(run, part, runtime, { timeIsUp, sliceMax: 10 })
    }
    await Promise.all([perform(), perform()])
    // A message that arrives when the part is stored.
    await perform()
    parts += 1
  }
}

/** The examples of a slice are in the order of its lists. */
const sorted = ({ invariants, ...result }: Reconciliation) => ({
  ...result,
  invariants: invariants.map(({ examples, ...finding }) => ({
    ...finding,
    examples: examples.map((example) => JSON.stringify(example)).sort(),
  })),
})

/** Returns a generator of numbers below one. */
const randomFrom = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 16_807) % 2_147_483_647
    return state / 2_147_483_647
  }
}

test.each([TODAY, TOMORROW, DAY_AFTER])(
  'the interrupted, repeated and shuffled parts of %s find the same as one uninterrupted run',
  async (date) => {
    const day = await severalProviders()
    await damage(day)
    const expected = await reconcileLater(date, LATER)
    expect(expected.differences).toBeGreaterThan(date === TODAY ? 5 : 0)
    for (const [steps, seed] of [
      [1, 7],
      [3, 9],
    ] as const) {
      const { result, parts } = await interrupted(date, { steps, seed })
      expect(sorted(result)).toEqual(sorted(expected))
      expect(parts).toBeGreaterThan(15)
    }
  },
)

test('the calls of a run that hits its time limit find the same as one uninterrupted run', async () => {
  await damage(await severalProviders())
  const expected = await reconcileLater(TODAY, LATER)
  const runtime = still({ now: () => LATER, newId: randomUUID })
  let calls = 0
  for (let id: string | undefined; ; calls += 1) {
    let steps = 0
    const timeIsUp = () => {
      steps += 1
      return steps > 20
    }
    const result = await reconcile(TODAY, runtime, { id, timeIsUp, sliceMax: 10 })
    if ('differences' in result) {
      expect(sorted(result)).toEqual(sorted(expected))
      break
    }
    expect(result.id).toBe(id ?? result.id)
    id = result.id
  }
  expect(calls).toBeGreaterThan(2)
})

test('each unsettled debit of a provider with several slices of them is checked once', async () => {
  await putProviders()
  const month = dayAfter(TODAY, 40)
  const debits = await debitsOf(providerId('other'), 60)
  const count = debits.filter(({ status }) => status === 'completed').length
  const runtime = still({ now: () => at(dayAfter(month), '02:00:05'), newId: randomUUID })
  const result = await reconcile(month, runtime, { sliceMax: 10 })
  const { invariants } = result as Reconciliation
  const settled = invariants.find(({ number }) => number === 22)
  expect([settled?.checked, settled?.differences]).toEqual([count, count])
})

test('a second with more debits than a slice holds is read as one slice', async () => {
  const references = ['A', 'B', 'C', 'D'] as Reference[]
  async function* list({ from, before }: Span) {
    if (from.getTime() <= 500 && before.getTime() > 500) for (const one of references) yield [one]
  }
  const { references: read, rest } = await readSlice(list, { from: 0, before: 86_400_000 }, 3)
  expect(read).toEqual(references)
  expect(rest).toMatchObject({ from: 1_000, before: 86_400_000 })
})

test('the lines of a batch are read by two thousand at once', async () => {
  const large = batchOf(TODAY)
  const lines = Array.from({ length: 2_001 }, (_, n) => numberedLine(n))
  for (const [n, some] of groupsOf(lines, 98).entries()) {
    const id = chunkId(0, n + 1)
    const chunk = toChunkItem(large.id, { id, lines: some, linesInLane: 0 })
    await put(keys.chunk(large.id, id), 'lines', chunk)
  }
  const pages = await Array.fromAsync(linePages(large))
  expect(pages.map(({ length }) => length)).toEqual([2_000, 1])
  expect(pages.flat()).toEqual(lines)
})

test('the examples of a finding have a limited size, and all of its differences are counted', () => {
  const findings = newFindings(700)
  const wrong = { checked: 1, wrong: ['x'.repeat(300)] }
  for (let n = 0; n < 5; n += 1) findings.add(1, { subject: String(n) }, wrong)
  const examples = [{ subject: '0' }, { subject: '1' }]
  expect(findings.list()[0]).toMatchObject({ checked: 5, differences: 5, examples })
})

test('the interrupted parts store the same balances as one uninterrupted run', async () => {
  await severalProviders()
  await reconcileLater(TODAY, LATER)
  const expected = await findClosing(TODAY)
  expect(expected?.day).toBe(TODAY)
  await remove(keys.ledger(TODAY))
  await interrupted(TODAY, { steps: 1, seed: 5 })
  expect(await findClosing(TODAY)).toEqual(expected)
  // The next day carries nothing, or two days if the balances of the first are missing.
  await interrupted(TOMORROW, { steps: 1, seed: 6 })
  const carried = await findClosing(TOMORROW)
  expect(carried?.day).toBe(TOMORROW)
  for (const day of [TODAY, TOMORROW]) await remove(keys.ledger(day))
  await interrupted(TOMORROW, { steps: 1, seed: 6 })
  expect(await findClosing(TOMORROW)).toEqual(carried)
})

test('an operator’s call whose time is up returns its run, which the next call continues', async () => {
  await severalProviders()
  const call = async (now: () => Date, more = {}) => {
    const options = { date: TODAY, ...more }
    const manage = manageReconciliation(still({ now }))
    return ((await manage({ verb: 'run', options } as never)) as { result: { run: string } }).result
  }
  let looks = 0
  const progress = await call(() => new Date(LATER.getTime() + 400_000 * looks++))
  expect(progress).toEqual({ run: expect.stringMatching(/^2026-11-21#/) })
  expect(await store.findRun(progress.run)).toMatchObject({ endedAt: null })
  const { differences } = await reconcileLater(TODAY, LATER)
  expect(await call(() => LATER, progress)).toMatchObject({ date: TODAY, differences })
  expect(await store.findRun(progress.run)).toMatchObject({ endedAt: LATER })
})

test('a run compares no ledger if an earlier part of a provider cannot derive its entries', async () => {
  await severalProviders()
  const [first, second] = (await listBatchTimes(providerId('large'))).map(({ id }) => id).sort()
  if (!first || !second) throw new Error('two batches have lines of the day')
  for (const chunk of await readCollection(keys.chunks(first)))
    await overwrite(keyOf(chunk), { debits: '{' })
  const { result } = await interrupted(TODAY, { steps: 1, seed: 7 })
  const examples = result.invariants.find(({ number }) => number === 40)?.examples
  expect(examples).toMatchObject([{ difference: expect.stringMatching(/^cannot be derived/) }])
})

test('a run of three thousand providers has small items, and a repeated start creates what is missing', async () => {
  const ids = Array.from({ length: 3_000 }, (_, n) => providerId(`p-${'x'.repeat(32)}-${n}`))
  const { dailyLimit, ...settings } = demoProvider
  for (const id of ids) await storeProvider({ ...settings, id })
  const runtime = still({ now: () => LATER, newId: randomUUID })
  let calls = 0
  // The first worker crashes after a hundred writes.
  const stop = aroundTableCalls((name, next) => {
    calls += name === 'Put' ? 1 : 0
    return calls > 100 ? Promise.reject(new Error('crashed')) : next()
  })
  await expect(startRun(TODAY, TODAY, runtime)).rejects.toThrow('crashed')
  stop()
  await storeProvider({ ...settings, id: providerId('added-in-between') })
  await Promise.all([startRun(TODAY, TODAY, runtime), startRun(TODAY, TODAY, runtime)])
  const items = await readCollection({ pk: keys.reconciliation(TODAY).pk })
  expect(Math.max(...items.map((one) => JSON.stringify(one).length))).toBeLessThan(50_000)
  const parts = await Array.fromAsync(store.partsOf(TODAY))
  expect(parts.map(({ id }) => id)).toEqual(['*', ...ids].sort())
  const run = (await store.findRun(TODAY)) as store.ReconciliationRun
  expect(run.openParts).toBe(ids.length + 1)
  await remove(keys.reconciliationProviders(TODAY, `${run.pages?.id}#1`))
  await expect(store.findProviders(run)).rejects.toThrow('has lost its providers')
})

test('a run reads each debit by one query, and everything else in batches', async () => {
  const { debits, reversed } = await severalProviders()
  const calls = new Map<string, number>()
  const stop = aroundTableCalls((name, next) => {
    calls.set(name, (calls.get(name) ?? 0) + 1)
    return next()
  })
  await reconcileLater(TODAY, LATER)
  stop()
  const charged = sizes.reduce((sum, size) => sum + size, 0)
  expect(debits.length + reversed.length).toBeLessThan(charged)
  // Some calls of a provider do not depend on the number of its debits; unsettled ones have eight lists.
  const perProvider = 60
  expect(calls.get('Query')).toBeLessThan(charged + (providers.length + 2) * perProvider)
  expect(calls.get('BatchGet')).toBeLessThan((providers.length + 2) * perProvider)
})
