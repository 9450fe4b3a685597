import { expect, test } from 'vitest'
import { timedCalls } from '../../proofs/bench/timed-calls.ts'
import { type BatchId, newReference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { type Line, openBatch } from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { listBatchesOfDay } from '../../shared/store/settlement/batches.ts'
import { chunkId, toChunkItem } from '../../shared/store/settlement/chunk-item.ts'
import { LINES_PER_CHUNK } from '../../shared/store/settlement/lines.ts'
import { batch, line } from './report/one-batch.ts'

/**
 * Sums and reports of many lines of one provider, continued after every kind of end: a million in
 * `npm run prove:long`.
 */

const NIGHT = new Date('2026-11-22T00:30:00.000Z')
const date = dayOf(NIGHT)
const { provider } = batch()
const [BATCHES, LINES_PER_BATCH] = process.env.LONG === 'true' ? [5, 200_000] : [2, 100_000]
const LANES = 8
const LINES = BATCHES * LINES_PER_BATCH
const MEGABYTE = 2 ** 20

let numbered = 0

const nextLine = (): Line => {
  numbered += 1
  const reference = newReference('DCS', NIGHT, (numbered + 0.5) / 36 ** 6)
  const gross = 1_00 + (numbered % 999_901)
  const amounts = { gross: pesewas(gross), fee: pesewas(75), net: pesewas(gross - 75) }
  return line({ reference, partnerReference: `order-2026-11-21-${numbered}`, ...amounts })
}

/** Stores sealed batches without sums and reports. */
const sealedBatches = () => {
  numbered = 0
  const calls = timedCalls(NIGHT)
  const put = (Item: object) => calls.table.run('PutCommand', { TableName: 'timed', Item })
  for (let n = 1; n <= BATCHES; n += 1) {
    const id = `STL-20261122-LARGE${n}` as BatchId
    const facts = { ...batch({ id }), date, n, createdAt: NIGHT, lanes: LANES }
    put(toBatchItem({ ...openBatch(facts), sealedAt: NIGHT, lanes: LANES }))
    for (let lane = 0; lane < LANES; lane += 1) putLane(put, id, lane)
  }
  return calls
}

const putLane = (put: (item: object) => void, id: BatchId, lane: number): void => {
  const max = LINES_PER_BATCH / LANES
  for (let chunk = 1, linesInLane = 0; linesInLane < max; chunk += 1) {
    const count = Math.min(LINES_PER_CHUNK, max - linesInLane)
    linesInLane += count
    const lines = Array.from({ length: count }, nextLine)
    put(toChunkItem(id, { id: chunkId(lane, chunk), lines, linesInLane }))
  }
}

const totalsOf = async () =>
  (await listBatchesOfDay(provider, date)).map(({ totals, reportedAt }) => reportedAt && totals)

test('the lines of a large provider are summed and reported in parts, and a stopped run repeats at most one', async () => {
  const whole = sealedBatches()
  let heapMax = 0
  whole.before(() => {
    heapMax = Math.max(heapMax, process.memoryUsage().heapUsed)
  })
  const heapBefore = process.memoryUsage().heapUsed
  const startedAt = process.cpuUsage()
  expect(await buildBatch({ provider, date }, whole.runtime)).toMatchObject({ isDone: true })
  const { user, system } = process.cpuUsage(startedAt)
  const totals = await totalsOf()
  expect(totals.map((one) => one?.count)).toEqual(Array(BATCHES).fill(LINES_PER_BATCH))
  const uninterrupted = { queries: whole.counts.queries, reports: new Map(whole.reports) }

  const stopped = sealedBatches()
  // The first run crashes in a report; others end at their time limit.
  let parts = 0
  stopped.before((command) => {
    parts += command === 'UploadPartCommand' ? 1 : 0
    if (parts === 3) {
      parts += 1
      throw new Error('Crash')
    }
  })
  await expect(buildBatch({ provider, date }, stopped.runtime)).rejects.toThrow('Crash')
  let runs = 1
  for (let isDone = false; !isDone; runs += 1) {
    let checks = 0
    // After one batch; the first check follows the empty page of unsettled debits.
    const timeIsUp = () => {
      checks += 1
      return checks === 2
    }
    const result = await buildBatch({ provider, date, timeIsUp }, stopped.runtime)
    isDone = result.isDone
  }
  expect(runs).toBeGreaterThan(BATCHES)
  expect(await totalsOf()).toEqual(totals)
  const digests = ({ reports }: { reports: typeof stopped.reports }) =>
    [...reports].map(([key, { digest, bytes }]) => [key, digest, bytes]).sort()
  expect(digests(stopped)).toEqual(digests(uninterrupted))
  // The crashed part is read twice; a few queries begin each run.
  const perBatch = uninterrupted.queries / BATCHES
  expect(stopped.counts.queries).toBeLessThan(uninterrupted.queries + perBatch + 5 * runs)
  process.stdout.write(
    `${LINES} lines: ${Math.round((user + system) / 1_000)} ms of CPU, at most ${Math.round((heapMax - heapBefore) / MEGABYTE)} MB of heap, ` +
      `${uninterrupted.queries} queries; ${runs} runs of a stopped build: ${stopped.counts.queries} queries\n`,
  )
}, 1_500_000)
