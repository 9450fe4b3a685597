import { S3Client } from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import type { BatchId } from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { type CompletedDay, seedDay } from '../completed-day.ts'
import { compare, type Figure, ratioOf } from '../figures.ts'
import { onFixture, setEnvironment } from '../fixture.ts'
import { bareClient, type Call, sendBare, tapWire } from '../wire.ts'

const NEXT_MORNING = new Date('2026-11-22T00:30:00.000Z')
const DEBITS_PER_TURN = 990
const WARM_UP = 450
const SMALLEST = 1_000

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
  const references = new Map<string, string | undefined>(
    of.references.map((reference, index) => [reference, day.references[index]]),
  )
  return ({ operation, input }: Call): Call => {
    const { ClientRequestToken: _, ...rest } = input
    const text = JSON.stringify(rest)
      .replaceAll(/DCS-\d{8}-\w{6}/g, (reference) => references.get(reference) ?? reference)
      .replaceAll(/STL-\d{8}-\w{6}/g, (id) => `${id.slice(0, -6)}BARE${id.slice(-2)}`)
      .replaceAll(of.provider, day.provider)
    return { operation, input: JSON.parse(text) }
  }
}

/** Debits per second, of ours and of the base. */
type Speed = { ours: number; base: number }

const settleDay = async (count: number): Promise<Speed> => {
  const [bareDay, ourDay] = [await seedDay(count), await seedDay(count)]
  const batches = new Set<BatchId>()
  const milliseconds = { ours: 0, base: 0 }
  const client = bareClient()
  const toBareDay = callsFor(bareDay, ourDay)
  for (let isDone = false; !isDone; ) {
    const written: Call[] = []
    const untap = tapWire((request, proceed) => {
      const isLines = request.operation === 'TransactWriteItems'
      if (isLines && request.input.TransactItems.length > 1) written.push(request)
      return proceed()
    })
    const startedAt = performance.now()
    const turn = await settleTurn(ourDay)
    milliseconds.ours += performance.now() - startedAt
    untap()
    const calls = written.map(toBareDay)
    const baseStartedAt = performance.now()
    for (const request of calls) await sendBare(client, request)
    milliseconds.base += performance.now() - baseStartedAt
    isDone = turn.isDone
    for (const id of turn.batches) batches.add(id)
  }
  const [batch, ...others] = await findBatches([...batches])
  const settled = batch?.totals?.count
  if (settled !== count || others.length > 0) throw new Error(`Settled ${settled} of ${count}`)
  return { ours: (1_000 * count) / milliseconds.ours, base: (1_000 * count) / milliseconds.base }
}

const measureSettlement = onFixture(async ({ rounds, short, full }) => {
  mockBucket()
  await settleDay(WARM_UP)
  const figures: Figure[] = []
  let smallest = Number.NaN
  for (const count of [SMALLEST, ...(short ? [] : [10_000]), ...(full ? [100_000] : [])]) {
    const days: Speed[] = []
    const repeats = count === SMALLEST ? rounds : 1
    for (let round = 0; round < repeats; round += 1) days.push(await settleDay(count))
    const size = count.toLocaleString('en')
    const speed = compare(
      days.map(({ ours }) => ours),
      days.map(({ base }) => base),
      (rate) => rate,
    )
    figures.push({
      name: `${size} debits`,
      unit: '1/s',
      against: 'the same writes by a bare loop',
      target: { ratioAtLeast: 0.8 },
      ...speed,
    })
    if (count === SMALLEST) {
      smallest = 1e6 / speed.ours
      continue
    }
    figures.push({
      name: `time per debit of ${size}`,
      unit: 'µs',
      against: 'time per debit of 1,000',
      target: { ratioAtMost: 1.1 },
      ...ratioOf(1e6 / speed.ours, smallest),
    })
  }
  return {
    title: 'Settlement',
    explanation: 'A day of completed debits, and a loop that writes the same transactions.',
    figures,
  }
})

export const parts = { settlement: measureSettlement }
