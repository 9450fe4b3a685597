import { expect } from 'vitest'
import { timedDay } from '../../proofs/bench/timed-calls.ts'
import type { Line } from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { type BuildRequest, buildBatch } from '../../shared/settlement/build.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { linesOf } from '../../shared/store/settlement/lines.ts'

/** A day of many completed debits, and its builders on a virtual clock. */

export const NIGHT = new Date('2026-11-22T00:00:05.000Z')
const date = dayOf(NIGHT)
export const COUNT = 1_960

/** Stores a day and returns its builders on a virtual clock. */
export const largeDay = (count = COUNT, options: Partial<BuildRequest> = {}) => {
  const calls = timedDay(count, NIGHT)
  const { provider } = calls
  const build = (more: Partial<BuildRequest> = {}, runtime = calls.runtime) =>
    buildBatch({ provider, date, dividesAfter: 98, ...options, ...more }, runtime)
  const batches = () => listBatchesOfDay(provider, date)
  return { ...calls, build, batches }
}

type LargeDay = ReturnType<typeof largeDay>

/** Runs one builder, and others when the day is divided. */
export const runBuilders = async ({ build, whenContinued }: LargeDay, builders: number) => {
  const others: ReturnType<typeof build>[] = []
  whenContinued(100, () => {
    while (others.length < builders - 1) others.push(build())
  })
  const first = await build()
  return [first, ...(await Promise.all(others))]
}

export const expectSettledOnce = async ({ batches, reports, ...day }: LargeDay): Promise<void> => {
  const lines: Line[] = []
  for (const { id, totals, reportedAt } of await batches()) {
    const ofBatch = await Array.fromAsync(linesOf(id))
    expect(totals?.count).toBe(ofBatch.length)
    expect(reportedAt).not.toBeNull()
    lines.push(...ofBatch)
  }
  const references = lines.map(({ reference }) => reference)
  expect(references.sort()).toEqual([...day.references].sort())
  expect([...reports.values()].map(({ uploads }) => uploads)).toEqual(
    Array((await batches()).length * 2).fill(1),
  )
}
