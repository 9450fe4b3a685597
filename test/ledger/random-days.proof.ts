import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { openDay } from '../../shared/ledger/day.ts'
import { type Balances, post, trialBalance } from '../../shared/ledger/entry.ts'
import { entryView } from '../../shared/ledger/render.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { keys } from '../../shared/store/keys.ts'
import { findClosing } from '../../shared/store/settlement/ledger-days.ts'
import { remove } from '../../shared/store/table.ts'
import { at, DAY_MS, dayAt } from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { useFreshTable } from '../support/tables.ts'
import { LAST_DAY, type Moment, type Plan, runDays } from './some-days.ts'

const { RANDOM_DAYS, RANDOM_SEED } = process.env
const numRuns = Number(RANDOM_DAYS ?? 4)
const seed = Number(RANDOM_SEED ?? (RANDOM_DAYS ? Date.now() : 20261122))

useReportShelf()

const aMoment = (days: number): fc.Arbitrary<Moment> =>
  fc.record({
    days: fc.nat(days),
    time: fc.oneof(fc.constantFrom(0, 1, DAY_MS - 2_500, DAY_MS - 1), fc.nat(DAY_MS - 1)),
  })

const aPlan: fc.Arbitrary<Plan> = fc.record({
  debits: fc.array(
    fc.record({
      provider: fc.constantFrom(0 as const, 1 as const),
      amount: fc.integer({ min: 1_00, max: 10_000_00 }),
      fee: fc.option(fc.nat(20_000_00), { nil: undefined, freq: 4 }),
      at: aMoment(2),
      outcome: fc.constantFrom('completed', 'reversed', 'late'),
      next: aMoment(2),
      late: fc.constantFrom('undecided', 'noted', 'refunded', 'noted, then refunded'),
      refund: fc.constantFrom('open', 'completed', 'retried', 'repaid by hand', 'rejected'),
      refundTakes: aMoment(1),
    }),
    { minLength: 1, maxLength: 10 },
  ),
  fundings: fc.array(
    fc.record({
      amount: fc.integer({ min: 1, max: 50_000_00 }),
      day: fc.nat(4),
      recordedAfter: fc.nat(3),
    }),
    { maxLength: 3 },
  ),
  behaviours: fc.array(
    fc.constantFrom('pay', 'reject', 'pay later', 'reject later', 'pay without reply'),
    { maxLength: 4 },
  ),
})

type Ledger = { opening: Balances; closing: Balances; entries: string[] }

const readLedger = async (day: Day, now: Date): Promise<Ledger> => {
  const { opening, entries } = await openDay(day, now)
  const closing = new Map(opening)
  const lines: string[] = []
  for await (const entry of entries) {
    post(closing, entry)
    lines.push(JSON.stringify(entryView(entry)))
  }
  return { opening, closing, entries: lines.sort() }
}

/** Leaves out accounts without a balance. */
const nonZero = (balances: Balances) =>
  Object.fromEntries([...balances].filter(([, balance]) => balance !== 0).sort())

const differencesOn = async (date: Day, now: Date) => {
  const { invariants } = await reconcile(date, { now: () => now })
  return invariants.find(({ number }) => number === 40)?.examples
}

const dropClosings = async (now: Date): Promise<void> => {
  for (;;) {
    const closing = await findClosing(dayOf(now))
    if (!closing) return
    await remove(keys.ledger(closing.day))
  }
}

test(
  'the ledger of random days balances and agrees with the table, with and without stored balances',
  { timeout: numRuns * 120_000 },
  () =>
    fc.assert(
      fc.asyncProperty(aPlan, async (plan) => {
        await useFreshTable()
        const nightly = new Map<Day, string[]>()
        await runDays(plan, async (now) => {
          const yesterday = dayAfter(dayOf(now), -1)
          expect(await differencesOn(yesterday, now)).toEqual([])
          expect(await findClosing(yesterday)).toMatchObject({ day: yesterday })
          nightly.set(yesterday, (await readLedger(yesterday, now)).entries)
        })
        const end = at('12:00:00', LAST_DAY + 2)
        const days = Array.from({ length: LAST_DAY + 1 }, (_, day) => dayAt(day))
        const stored: Ledger[] = []
        for (const day of days) stored.push(await readLedger(day, end))
        await dropClosings(end)
        for (const [index, day] of days.entries()) {
          const { opening, closing, entries } = stored[index] as Ledger
          expect(trialBalance(opening)).toBe(0)
          expect(trialBalance(closing)).toBe(0)
          expect(nonZero(opening)).toEqual(nonZero(stored[index - 1]?.closing ?? new Map()))
          // Computed from the start, without stored balances.
          await dropClosings(end)
          const computed = await readLedger(day, end)
          expect([nonZero(computed.opening), nonZero(computed.closing)]).toEqual([
            nonZero(opening),
            nonZero(closing),
          ])
          expect(computed.entries).toEqual(entries)
          // Only fundings change a past day.
          const previous = nightly.get(day)?.filter(isDerived)
          if (previous) expect(entries.filter(isDerived)).toEqual(previous)
          expect(await differencesOn(day, end)).toEqual([])
        }
      }),
      { numRuns, seed, endOnFailure: true },
    ),
)

const isDerived = (entry: string): boolean => !entry.includes('"type":"funding"')
