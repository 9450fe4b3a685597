import { randomUUID } from 'node:crypto'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { BatchId } from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { beside, type Figure, ratioOf } from '../figures.ts'
import { openGround, setEnvironment } from '../ground.ts'
import { type OneDay, seed, settleBarely } from '../one-day.ts'
import type { Measure } from '../part.ts'
import { spreadOf } from '../samples.ts'
import { tapWire } from '../wire.ts'

/**
 * How fast a day of completed debits is settled, beside a loop that writes the same transactions and
 * does nothing else: in turns, and a day as often as it takes for enough turns.
 */

const BEGINS = new Date('2026-11-21T00:00:00.000Z')
const NEXT_MORNING = new Date('2026-11-22T00:30:00.000Z')
const MEGABYTE = 1024 * 1024
const DEBITS_PER_TURN = 990
const WARM_UP = 450

setEnvironment()
const { real } = await import('../../shared/runtime.ts')
const { buildBatch, DEBITS_PER_READ } = await import('../../shared/settlement/build.ts')
const { findBatches } = await import('../../shared/store/settlement/batches.ts')

const runtime = { ...real, now: () => NEXT_MORNING }

/** Reports go nowhere: it is the table that is measured. */
const withoutBucket = (): void => {
  process.env.REPORTS_BUCKET = 'reports'
  mockClient(S3Client)
    .on(PutObjectCommand)
    .resolves({})
    .on(CreateMultipartUploadCommand)
    .resolves({ UploadId: 'upload' })
    .on(UploadPartCommand)
    .resolves({ ETag: 'etag' })
    .on(CompleteMultipartUploadCommand)
    .resolves({})
}

const timed = async <T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> => {
  const start = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - start) / 1_000 }
}

const SAMPLE_MS = 50

/** Sees to the most of the heap that is in use meanwhile, in bytes. */
const watchHeap = () => {
  globalThis.gc?.()
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }, SAMPLE_MS)
  return () => {
    clearInterval(sampling)
    return peak
  }
}

const newDay = (count: number): OneDay => ({
  provider: `bench-${randomUUID().slice(0, 8)}` as ProviderId,
  count,
  begins: BEGINS,
})

/** One turn; the last one sums the batch and writes its reports as well. */
const settle = ({ provider }: OneDay) => {
  let left = DEBITS_PER_TURN / DEBITS_PER_READ
  const timeIsUp = () => {
    left -= 1
    return left === 0
  }
  return buildBatch({ provider, date: dayOf(NEXT_MORNING), timeIsUp }, runtime)
}

type Day = {
  /** Seconds a debit took, ours and bare. */
  own: number
  bare: number
  /** Of ours, those of the last turn, which seals, sums and reports as well. */
  closing: number
  /** How much faster than a bare one each turn was. */
  turns: number[]
  requests: number
  peak: number
}

const settleDay = async (count: number): Promise<Day> => {
  const [bare, whole] = [newDay(count), newDay(count)]
  await seed(bare)
  await seed(whole)
  let requests = 0
  const batches = new Set<BatchId>()
  let [bareSeconds, ownSeconds, closingSeconds] = [0, 0, 0]
  const turns: number[] = []
  const peak = watchHeap()
  for (let from = 0, isDone = false; !isDone; from += DEBITS_PER_TURN) {
    const to = Math.min(count, from + DEBITS_PER_TURN)
    const barely = await timed(() => settleBarely(bare, { from, to }, runtime))
    bareSeconds += barely.seconds
    const untap = tapWire((_, onwards) => {
      requests += 1
      return onwards()
    })
    const { seconds, result } = await timed(() => settle(whole))
    untap()
    ownSeconds += seconds
    closingSeconds = seconds
    if (to - from === DEBITS_PER_TURN) turns.push(barely.seconds / seconds)
    isDone = result.isDone
    for (const id of result.batches) batches.add(id)
  }
  const [batch, ...others] = await findBatches([...batches])
  const settled = batch?.totals?.count
  if (settled !== count || others.length > 0) throw new Error(`Settled ${settled} of ${count}`)
  return {
    own: ownSeconds / count,
    bare: bareSeconds / count,
    closing: closingSeconds / count,
    turns,
    requests: requests / count,
    peak: peak(),
  }
}

const rate = (seconds: number): number => 1 / seconds

/** A day of many debits has turns enough to tell by. */
const figureOf = (days: readonly Day[]): Figure => {
  const [own, bare] = [days.map((day) => day.own), days.map((day) => day.bare)]
  const [only, ...others] = days
  if (!only || others.length > 0) return beside(own, bare, rate)
  const figure = ratioOf(rate(only.own), rate(only.bare))
  const { least, most } = spreadOf(only.turns)
  return { ...figure, ratio: { median: only.bare / only.own, least, most } }
}

const growthOf = (large: Figure, small: Figure): Figure => ratioOf(1e6 / large.own, 1e6 / small.own)

const note = (count: number, days: readonly Day[]): string => {
  const requests = days.reduce((sum, one) => sum + one.requests, 0) / days.length
  const peak = Math.max(...days.map((day) => day.peak)) / MEGABYTE
  const closing = (days.reduce((sum, one) => sum + one.closing, 0) / days.length) * 1e6
  return (
    `${count.toLocaleString('en')} debits: ${requests.toFixed(3)} requests a debit, ` +
    `${peak.toFixed(0)} MB of heap at the most; its last turn, in which the batch is sealed, summed and reported, ` +
    `is ${closing.toFixed(0)} µs of a debit.`
  )
}

export const measure: Measure = async ({ rounds, short, full }) => {
  const ground = await openGround()
  try {
    withoutBucket()
    await settleDay(WARM_UP)
    const figures: Record<string, Figure> = {}
    const notes: string[] = ['']
    const sizes = [1_000, ...(short ? [] : [10_000]), ...(full ? [100_000] : [])]
    for (const count of sizes) {
      const days: Day[] = []
      const times = count === 1_000 ? rounds : 1
      for (let n = 0; n < times; n += 1) days.push(await settleDay(count))
      const figure = figureOf(days)
      figures[`settlement ${count}`] = figure
      const small = figures['settlement 1000']
      if (count > 1_000 && small) figures[`settlement growth ${count}`] = growthOf(figure, small)
      notes.push(note(count, days))
    }
    return { figures, notes }
  } finally {
    await ground.stop()
  }
}
