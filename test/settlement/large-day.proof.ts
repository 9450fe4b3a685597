import { expect, test } from 'vitest'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { expectSettledOnce, largeDay, NIGHT, runBuilders } from './large-day.ts'

/** Batches of up to ten thousand debits, and what they cost. */

test('a batch that is full is sealed once while builders fill the next one', async () => {
  const large = largeDay(8_000, { linesMax: 6_400 })
  await runBuilders(large, 2)
  await expectSettledOnce(large)
  const batches = await large.batches()
  expect(batches.length).toBeGreaterThan(1)
  for (const { totals } of batches) expect(totals?.count).toBeLessThanOrEqual(6_400)
})

// Three of them are the mark: two of an update in a transaction, and one of the index entry that it removes.
test.each([
  [1, 21, 0.4],
  [10, 4.8, 0.4],
  [98, 3.35, 0.4],
  [1_000, 3.23, 1.9],
  [10_000, 3.23, 4.7],
])(
  'a batch of %i debits costs at most %d write units each and %d s, and leaves a fifth of the writes of each key of an index to live completions',
  async (...row) => {
    const [count, units, seconds] = row
    const large = largeDay(count, { dividesAfter: 1_000 })
    await putSweepProgress({ until: NIGHT, behind: new Map() })
    const seeded = large.units.write
    large.partitions.forget()
    await runBuilders(large, 2)
    expect((large.units.write - seeded) / count).toBeLessThanOrEqual(units)
    expect(large.elapsed() / 1_000).toBeLessThanOrEqual(seconds)
    expect(large.partitions.busiest.index).toBeLessThanOrEqual(800)
  },
)
