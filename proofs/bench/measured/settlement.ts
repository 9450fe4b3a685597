import { S3Client } from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'
import type { BatchId } from '../../../shared/domain/ids.ts'
import { dayOf } from '../../../shared/domain/time.ts'
import { type CompletedDay, completedDay, itemOf, seedDay } from '../completed-day.ts'
import { compare, type Figure, ratioOf } from '../figures.ts'
import { onFixture, setEnvironment } from '../fixture.ts'
import { bareClient, type Call, sendBare, tapWire } from '../wire.ts'

const NEXT_MORNING = new Date('2026-11-22T00:30:00.000Z')
const date = dayOf(NEXT_MORNING)
const PAGES_PER_TURN = 2
const WARM_UP = 450
const SMALLEST = 1_000

setEnvironment()
const { timedCalls } = await import('../timed-calls.ts')
const { real } = await import('../../../shared/runtime.ts')
const { buildBatch } = await import('../../../shared/settlement/build.ts')
const { findBatches } = await import('../../../shared/store/settlement/batches.ts')

const runtime = { ...real, now: () => NEXT_MORNING }

/** Discards reports, because only the table is measured. */
const mockBucket = (): void => {
  process.env.REPORTS_BUCKET = 'reports'
  mockClient(S3Client).onAnyCommand().resolves({ UploadId: 'upload', ETag: 'etag' })
}

/** Settles some pages of debits; the last turn also seals, sums and reports the batch. */
const settleTurn = ({ provider }: CompletedDay) => {
  let remaining = PAGES_PER_TURN
  const timeIsUp = () => {
    remaining -= 1
    return remaining === 0
  }
  return buildBatch({ provider, date, timeIsUp }, runtime)
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

const writesLines = ({ operation, input }: Call): boolean =>
  operation === 'TransactWriteItems' &&
  input.TransactItems.some((write: { Update?: object }) => write.Update)

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
    let inFlight = { now: 0, most: 0 }
    const untap = tapWire(async (request, proceed) => {
      if (!writesLines(request)) return proceed()
      written.push(request)
      inFlight = { now: inFlight.now + 1, most: Math.max(inFlight.most, inFlight.now + 1) }
      return proceed().finally(() => {
        inFlight.now -= 1
      })
    })
    const startedAt = performance.now()
    const turn = await settleTurn(ourDay)
    milliseconds.ours += performance.now() - startedAt
    untap()
    const calls = written.map(toBareDay)
    const baseStartedAt = performance.now()
    await Promise.all(Array.from({ length: inFlight.most }, () => sendAll(client, calls)))
    milliseconds.base += performance.now() - baseStartedAt
    isDone = turn.isDone
    for (const id of turn.batches) batches.add(id)
  }
  const [batch, ...others] = await findBatches([...batches])
  const settled = batch?.totals?.count
  if (settled !== count || others.length > 0) throw new Error(`Settled ${settled} of ${count}`)
  return { ours: (1_000 * count) / milliseconds.ours, base: (1_000 * count) / milliseconds.base }
}

const sendAll = async (client: ReturnType<typeof bareClient>, calls: Call[]): Promise<void> => {
  for (let call = calls.shift(); call; call = calls.shift()) await sendBare(client, call)
}

const MILLION = 1_000_000
const MINUTE_MS = 60_000

/** Settles a large day of one provider on a virtual clock, where a transaction takes 150 ms. */
const settleOnClock = async (count: number) => {
  const day = completedDay(count)
  const { table, counts, elapsed, whenContinued, ...calls } = timedCalls(NEXT_MORNING)
  for (const index of day.references.keys()) {
    table.run('PutCommand', { TableName: 'timed', Item: itemOf(day, index) })
  }
  const builds: ReturnType<typeof buildBatch>[] = []
  const build = () => {
    const end = elapsed() + 10 * MINUTE_MS
    const timeIsUp = () => elapsed() >= end
    builds.push(buildBatch({ provider: day.provider, date, timeIsUp }, calls.runtime))
  }
  whenContinued(1_000, build)
  build()
  while (!(await Promise.all(builds)).some(({ isDone }) => isDone)) await calls.runtime.pause(100)
  const milliseconds = elapsed()
  calls.end()
  return { ...counts, milliseconds }
}

const clockFigures = async (count: number): Promise<Figure[]> => {
  const { transactions, cancelled, inFlightMax, milliseconds } = await settleOnClock(count)
  const scale = MILLION / count
  return [
    { name: 'transactions of a million debits', ours: transactions * scale },
    { name: 'cancelled transactions', ours: cancelled },
    { name: 'transactions in flight, two builders', ours: inFlightMax },
    {
      name: 'minutes of a million debits of one provider',
      ours: (milliseconds * scale) / MINUTE_MS,
      target: { atMost: 6 },
    },
  ]
}

const measureSettlement: Parameters<typeof onFixture>[0] = async ({ rounds, short, full }) => {
  const onClock = await clockFigures(full ? 200_000 : short ? 10_000 : 50_000)
  return onFixture(async () => {
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
        target: { ratioAtLeast: 0.9 },
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
      explanation:
        'A day of completed debits, and loops that write the same transactions, as many in flight. A large ' +
        'day on a virtual clock: 150 ms per transaction, 20 ms per query or read of 100, 200 ms per part of ' +
        'a report; a second builder starts when the first divides the day.',
      figures: [...figures, ...onClock],
    }
  })({ rounds, short, full })
}

export const parts = { settlement: measureSettlement }
