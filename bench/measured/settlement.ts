import { randomUUID } from 'node:crypto'
import { S3Client } from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { BatchId } from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { type CompletedDay, referenceIn, seed } from '../completed-day.ts'
import { compare, type Figure, ratioOf } from '../figures.ts'
import { onFixture, setEnvironment } from '../fixture.ts'
import { spreadOf } from '../samples.ts'
import { bareClient, type Call, sendBare, tapWire } from '../wire.ts'

const START = new Date('2026-11-21T00:00:00.000Z')
const NEXT_MORNING = new Date('2026-11-22T00:30:00.000Z')
const DEBITS_PER_TURN = 990
const WARM_UP = 450
const HEAP_SAMPLE_MS = 50

setEnvironment()
const { real } = await import('../../shared/runtime.ts')
const { buildBatch, DEBITS_PER_READ } = await import('../../shared/settlement/build.ts')
const { findBatches } = await import('../../shared/store/settlement/batches.ts')

const runtime = { ...real, now: () => NEXT_MORNING }

/** Discards reports, because only the table is measured. */
const mockBucket = (): void => {
  process.env.REPORTS_BUCKET = 'reports'
  mockClient(S3Client).onAnyCommand().resolves({ UploadId: 'upload', ETag: 'etag' })
}

const timed = async <T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> => {
  const start = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - start) / 1_000 }
}

/** Samples the heap. Returns a function that stops and returns the peak in bytes. */
const watchHeap = () => {
  globalThis.gc?.()
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }, HEAP_SAMPLE_MS)
  return () => {
    clearInterval(sampling)
    return peak
  }
}

const newDay = (count: number): CompletedDay => ({
  provider: `bench-${randomUUID().slice(0, 8)}` as ProviderId,
  count,
  start: START,
})

/** Settles DEBITS_PER_TURN debits; the last turn also seals, sums and reports the batch. */
const settleTurn = ({ provider }: CompletedDay) => {
  let remaining = DEBITS_PER_TURN / DEBITS_PER_READ
  const timeIsUp = () => {
    remaining -= 1
    return remaining === 0
  }
  return buildBatch({ provider, date: dayOf(NEXT_MORNING), timeIsUp }, runtime)
}

/** Returns calls that write the same lines for the debits of another day. */
const callsFor = (day: CompletedDay, of: CompletedDay) => {
  const references = new Map<string, string>()
  for (let index = 0; index < of.count; index += 1) {
    references.set(referenceIn(of, index), referenceIn(day, index))
  }
  return ({ operation, input }: Call): Call => {
    const { ClientRequestToken: _, ...rest } = input
    const text = JSON.stringify(rest)
      .replaceAll(/DCS-\d{8}-\w{6}/g, (reference) => references.get(reference) ?? reference)
      .replaceAll(/STL-\d{8}-\w{6}/g, (id) => `${id.slice(0, -6)}BARE${id.slice(-2)}`)
      .replaceAll(of.provider, day.provider)
    return { operation, input: JSON.parse(text) }
  }
}

/** Seconds per debit, of ours and of the base, and the costs of ours. */
type DayResult = {
  ours: number
  base: number
  /** Seconds per debit of the last turn. */
  lastTurn: number
  /** The ratio of speeds in each full turn. */
  turnRatios: number[]
  /** Per debit. */
  requests: number
  peakBytes: number
}

const settleDay = async (count: number): Promise<DayResult> => {
  const [bareDay, ourDay] = [newDay(count), newDay(count)]
  await seed(bareDay)
  await seed(ourDay)
  let requests = 0
  const batches = new Set<BatchId>()
  const seconds = { ours: 0, base: 0, lastTurn: 0 }
  const turnRatios: number[] = []
  const client = bareClient()
  const toBareDay = callsFor(bareDay, ourDay)
  const stopHeap = watchHeap()
  for (let settled = 0, isDone = false; !isDone; settled += DEBITS_PER_TURN) {
    const written: Call[] = []
    const untap = tapWire((request, proceed) => {
      requests += 1
      const isLines = request.operation === 'TransactWriteItems'
      if (isLines && request.input.TransactItems.length > 1) written.push(request)
      return proceed()
    })
    const ours = await timed(() => settleTurn(ourDay))
    untap()
    const calls = written.map(toBareDay)
    const base = await timed(async () => {
      for (const request of calls) await sendBare(client, request)
    })
    seconds.base += base.seconds
    seconds.ours += ours.seconds
    seconds.lastTurn = ours.seconds
    if (count - settled >= DEBITS_PER_TURN) turnRatios.push(base.seconds / ours.seconds)
    isDone = ours.result.isDone
    for (const id of ours.result.batches) batches.add(id)
  }
  const [batch, ...others] = await findBatches([...batches])
  const settled = batch?.totals?.count
  if (settled !== count || others.length > 0) throw new Error(`Settled ${settled} of ${count}`)
  return {
    ours: seconds.ours / count,
    base: seconds.base / count,
    lastTurn: seconds.lastTurn / count,
    turnRatios,
    requests: requests / count,
    peakBytes: stopHeap(),
  }
}

/** Compares debits per second. A single day takes its spread from its turns. */
const speedOf = (days: readonly DayResult[]) => {
  const rates = (side: 'ours' | 'base') => days.map((day) => 1 / day[side])
  const speed = compare(rates('ours'), rates('base'), (rate) => rate)
  const [first, ...others] = days
  if (!first || others.length > 0) return speed
  const { least, most } = spreadOf(first.turnRatios)
  return { ...speed, ratio: { ...speed.ratio, least, most } }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const note = (size: string, days: readonly DayResult[]): string => {
  const requests = mean(days.map((day) => day.requests))
  const megabytes = Math.max(...days.map((day) => day.peakBytes)) / 1024 ** 2
  const lastTurn = mean(days.map((day) => day.lastTurn)) * 1e6
  return `- ${size}: ${requests.toFixed(3)} requests and ${lastTurn.toFixed(0)} µs of the last turn per debit; heap ${megabytes.toFixed(0)} MB.`
}

const measureSettlement = onFixture(async ({ rounds, short, full }) => {
  mockBucket()
  await settleDay(WARM_UP)
  const figures: Figure[] = []
  const notes: string[] = ['']
  let smallest: number | undefined
  for (const count of [1_000, ...(short ? [] : [10_000]), ...(full ? [100_000] : [])]) {
    const days: DayResult[] = []
    const repeats = count === 1_000 ? rounds : 1
    for (let round = 0; round < repeats; round += 1) days.push(await settleDay(count))
    const size = count.toLocaleString('en')
    const speed = speedOf(days)
    figures.push({
      name: `${size} debits`,
      unit: '1/s',
      against: 'the same writes by a bare loop',
      target: { ratioAtLeast: 0.8 },
      ...speed,
    })
    const perDebit = 1e6 / speed.ours
    if (smallest !== undefined) {
      figures.push({
        name: `time per debit of ${size}`,
        unit: 'µs',
        against: 'time per debit of 1,000',
        target: { ratioAtMost: 1.1 },
        ...ratioOf(perDebit, smallest),
      })
    }
    smallest ??= perDebit
    notes.push(note(size, days))
  }
  return {
    title: 'Settlement',
    explanation: 'A day of completed debits, and a loop that writes the same transactions.',
    figures,
    notes,
  }
})

export const parts = { settlement: measureSettlement }
