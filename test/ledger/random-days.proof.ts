import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
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
import { LAST_DAY, live, type Moment, type Plan } from './some-days.ts'

/** Whatever the days are like, the books balance and agree with the state of the table. */

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

type Told = { opening: Balances; closing: Balances; entries: string[] }

const told = async (day: Day, now: Date): Promise<Told> => {
  const { opening, entries } = await openDay(day, now)
  const closing = new Map(opening)
  const all: string[] = []
  for await (const entry of entries) {
    post(closing, entry)
    all.push(JSON.stringify(entryView(entry)))
  }
  return { opening, closing, entries: all.sort() }
}

/** Accounts without a balance may be named or not. */
const sums = (balances: Balances) =>
  Object.fromEntries([...balances].filter(([, balance]) => balance !== 0).sort())

const differing = async (date: Day, now: Date) => {
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

beforeEach(useFreshTable)

test(
  'every entry balances, days follow one another, and the table agrees, with and without stored balances',
  { timeout: numRuns * 120_000 },
  () =>
    fc.assert(
      fc.asyncProperty(aPlan, async (plan) => {
        await useFreshTable()
        const nightly = new Map<Day, string[]>()
        await live(plan, async (now) => {
          const yesterday = dayAfter(dayOf(now), -1)
          expect(await differing(yesterday, now)).toEqual([])
          expect(await findClosing(yesterday)).toMatchObject({ day: yesterday })
          nightly.set(yesterday, (await told(yesterday, now)).entries)
        })
        const end = at('12:00:00', LAST_DAY + 2)
        const days = Array.from({ length: LAST_DAY + 1 }, (_, n) => dayAt(n))
        const stored: Told[] = []
        for (const day of days) stored.push(await told(day, end))
        await dropClosings(end)
        for (const [n, day] of days.entries()) {
          const { opening, closing, entries } = stored[n] as Told
          expect(trialBalance(opening)).toBe(0)
          expect(trialBalance(closing)).toBe(0)
          expect(sums(opening)).toEqual(sums(stored[n - 1]?.closing ?? new Map()))
          // From the beginning, without what was stored; the order of reading is no part of it.
          await dropClosings(end)
          const again = await told(day, end)
          expect([sums(again.opening), sums(again.closing)]).toEqual([sums(opening), sums(closing)])
          expect(again.entries).toEqual(entries)
          // A day that was over has changed by fundings alone.
          const before = nightly.get(day)?.filter(isDerived)
          if (before) expect(entries.filter(isDerived)).toEqual(before)
          expect(await differing(day, end)).toEqual([])
        }
      }),
      { numRuns, seed, endOnFailure: true },
    ),
)

const isDerived = (entry: string): boolean => !entry.includes('"type":"funding"')
