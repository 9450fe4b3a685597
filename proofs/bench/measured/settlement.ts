import { S3Client } from '@aws-sdk/client-s3'
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import type { BatchId } from '../../../shared/domain/ids.ts'
import { dayOf } from '../../../shared/domain/time.ts'
import { type CompletedDay, completedDay, itemOf } from '../completed-day.ts'
import { compare, type Figure, type Measure } from '../figures.ts'
import { onFixture, setEnvironment } from '../fixture.ts'
import { bareClient, type Call, tapTable } from '../table-calls.ts'

/** Settlement: compared with the same writes by a bare loop, and a million debits on a virtual clock. */

const NEXT_MORNING = new Date('2026-11-22T00:30:00.000Z')
const date = dayOf(NEXT_MORNING)
const PAGES_PER_TURN = 2
const ITEMS_PER_WRITE = 25
const WARM_UP = 450
const SMALL = 1_000
const LARGE = 10_000
const MILLION = 1_000_000
const MINUTE_MS = 60_000

setEnvironment()
const { timedDay } = await import('../timed-calls.ts')
const { real } = await import('../../../shared/runtime.ts')
const { buildBatch } = await import('../../../shared/settlement/build.ts')
const { findBatches } = await import('../../../shared/store/settlement/batches.ts')
const { table, tableName } = await import('../../../shared/store/table.ts')

/** Writes a day of completed, unsettled debits. */
const seedDay = async (count: number): Promise<CompletedDay> => {
  const day = completedDay(count)
  const writes = day.references.map((_, index) => ({ PutRequest: { Item: itemOf(day, index) } }))
  while (writes.length > 0) {
    const RequestItems = { [tableName()]: writes.splice(0, ITEMS_PER_WRITE) }
    await table.send(new BatchWriteCommand({ RequestItems }))
  }
  return day
}

/** Settles some pages of debits; the last turn also seals, sums and reports the batch. */
const settleTurn = ({ provider }: CompletedDay) => {
  let remaining = PAGES_PER_TURN
  const timeIsUp = () => {
    remaining -= 1
    return remaining === 0
  }
  return buildBatch({ provider, date, timeIsUp }, { ...real, now: () => NEXT_MORNING })
}

/** Returns a sender of a call that writes the same lines for the debits of another day. */
const senderFor = (day: CompletedDay, of: CompletedDay) => {
  const client = bareClient()
  const references = new Map(
    of.references.map((reference, index) => [reference as string, day.references[index]]),
  )
  return ({ input, sendBy }: Call) => {
    const text = JSON.stringify(input)
      .replaceAll(/DCS-\d{8}-\w{6}/g, (reference) => references.get(reference) ?? reference)
      .replaceAll(/STL-\d{8}-\w{6}/g, (id) => `${id.slice(0, -6)}BARE${id.slice(-2)}`)
      .replaceAll(of.provider, day.provider)
    const other = JSON.parse(text)
    return async () => sendBy(client, other)
  }
}

const writesLines = ({ name, input }: Call): boolean =>
  name === 'TransactWriteCommand' &&
  input.TransactItems.some((write: { Update?: object }) => write.Update)

const timed = async <T>(work: () => Promise<T>) => {
  const startedAt = performance.now()
  const result = await work()
  return { result, milliseconds: performance.now() - startedAt }
}

/** Records the calls that write lines, and the largest number of them in flight. */
const recordTurn = async (day: CompletedDay) => {
  const written: Call[] = []
  let inFlight = 0
  let inFlightMax = 0
  const untap = tapTable(async (call, proceed) => {
    if (!writesLines(call)) return proceed()
    written.push(call)
    inFlight += 1
    inFlightMax = Math.max(inFlightMax, inFlight)
    return proceed().finally(() => {
      inFlight -= 1
    })
  })
  const turn = await timed(() => settleTurn(day))
  untap()
  return { ...turn, written, inFlightMax }
}

/** Returns debits per second, of ours and of the base. */
const settleDay = async (count: number) => {
  const [bareDay, ourDay] = [await seedDay(count), await seedDay(count)]
  const toSender = senderFor(bareDay, ourDay)
  const batches = new Set<BatchId>()
  const milliseconds = { ours: 0, base: 0 }
  for (let isDone = false; !isDone; ) {
    const turn = await recordTurn(ourDay)
    const senders = turn.written.map(toSender)
    const sendAll = async () => {
      for (let send = senders.shift(); send; send = senders.shift()) await send()
    }
    const base = await timed(() => Promise.all(Array.from({ length: turn.inFlightMax }, sendAll)))
    milliseconds.ours += turn.milliseconds
    milliseconds.base += base.milliseconds
    isDone = turn.result.isDone
    for (const id of turn.result.batches) batches.add(id)
  }
  const [batch, ...others] = await findBatches([...batches])
  const settled = batch?.totals?.count
  if (settled !== count || others.length > 0) throw new Error(`Settled ${settled} of ${count}`)
  return { ours: (1_000 * count) / milliseconds.ours, base: (1_000 * count) / milliseconds.base }
}

const speedOf = async (count: number, repeats: number) => {
  const days: Awaited<ReturnType<typeof settleDay>>[] = []
  while (days.length < repeats) days.push(await settleDay(count))
  const [ours, base] = [days.map((day) => day.ours), days.map((day) => day.base)]
  return {
    name: `${count.toLocaleString('en')} debits`,
    unit: '1/s',
    against: 'the same writes by a bare loop',
    target: { ratioAtLeast: 0.9 },
    ...compare(ours, base, (rate) => rate),
  } satisfies Figure
}

/** Settles a large day of one provider on a virtual clock, where a transaction takes 150 ms. */
const clockFigures = async (count: number): Promise<Figure[]> => {
  const { provider, counts, partitions, elapsed, whenContinued, runtime, end } = timedDay(
    count,
    NEXT_MORNING,
  )
  partitions.forget()
  const builds: ReturnType<typeof buildBatch>[] = []
  const build = () => {
    const endsAt = elapsed() + 10 * MINUTE_MS
    const timeIsUp = () => elapsed() >= endsAt
    builds.push(buildBatch({ provider, date, timeIsUp }, runtime))
  }
  whenContinued(1_000, build)
  build()
  while (!(await Promise.all(builds)).some(({ isDone }) => isDone)) await runtime.pause(100)
  const scale = MILLION / count
  const minutes = (elapsed() * scale) / MINUTE_MS
  end()
  return [
    { name: 'transactions of a million debits', ours: counts.transactions * scale },
    { name: 'cancelled transactions', ours: counts.cancelled },
    { name: 'transactions in flight, two builders', ours: counts.inFlightMax },
    {
      name: 'units a second of the busiest key of an index',
      ours: partitions.busiest.index,
      target: { atMost: 800 },
    },
    { name: 'units a second of the busiest key of the table', ours: partitions.busiest.table },
    { name: 'minutes of a million debits of one provider', ours: minutes, target: { atMost: 6 } },
  ]
}

const onTable = onFixture(async ({ rounds, short }): Promise<Figure[]> => {
  // Reports are discarded, because only the table is measured.
  process.env.REPORTS_BUCKET = 'reports'
  mockClient(S3Client).onAnyCommand().resolves({ UploadId: 'upload', ETag: 'etag' })
  await settleDay(WARM_UP)
  const small = await speedOf(SMALL, rounds)
  if (short) return [small]
  const large = await speedOf(LARGE, 1)
  return [
    small,
    large,
    {
      name: 'time per debit of 10,000',
      unit: 'µs',
      against: 'time per debit of 1,000',
      target: { ratioAtMost: 1.1 },
      ...compare([large.ours], [small.ours], (rate) => 1e6 / rate),
    },
  ]
})

const settlement: Measure = async (options) => {
  const onClock = await clockFigures(50_000)
  return {
    title: 'Settlement',
    explanation:
      'A day of completed debits, and loops that write the same transactions, as many in flight. A large ' +
      'day on a virtual clock: 150 ms per transaction, 20 ms per query or read of 100, 200 ms per part of ' +
      'a report; a second builder starts when the first divides the day. A key of the table or of an index ' +
      'takes 1,000 write units a second; of an index, live completions need the rest.',
    figures: [...(await onTable(options)), ...onClock],
  }
}

export const parts = { settlement }
