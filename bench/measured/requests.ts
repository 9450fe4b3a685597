import { compare, type Figure } from '../figures.ts'
import { onFixture, setEnvironment } from '../fixture.ts'
import { call, chargeEvents, fastClock, statusEvent } from '../requests.ts'
import {
  cpuEach,
  interleaved,
  type Load,
  latencyAt,
  median,
  perSecond,
  type Sample,
  type Work,
} from '../samples.ts'
import { bareClient, type Call, sendBare, tapWire, wireResponse } from '../wire.ts'

/** A charge and a status read: compared with their database calls by a bare client, and alone. */

setEnvironment()
const { charge: newCharge } = await import('../../functions/provider/charge.ts')
const { getDebitRequest } = await import('../../functions/provider/get-debit-request.ts')
const { keys } = await import('../../shared/store/keys.ts')
const { read, table } = await import('../../shared/store/table.ts')

type Plan = Omit<Load, 'concurrency'> & {
  concurrencies: readonly number[]
  /** The names of the two bases: the calls without and with the rate counters. */
  bases: { bare: string; counted: string }
}

type Works = Record<'ours' | 'bare' | 'counted', Work>

/** Compares latency, throughput and CPU of our requests with the same calls by a bare client. */
const requestFigures = async (works: Works, plan: Plan): Promise<Figure[]> => {
  const { concurrencies, bases, ...load } = plan
  await interleaved(works, { ...load, rounds: 1, concurrency: 8 })
  const figures: Figure[] = []
  let cpu: Figure[] = []
  for (const concurrency of concurrencies) {
    const { ours, bare, counted } = await interleaved(works, { ...load, concurrency })
    const row = (
      metric: string,
      unit: 'ms' | 'µs' | '1/s',
      measure: (sample: Sample) => number,
    ) => ({
      name: `${metric}, concurrency ${concurrency}`,
      unit,
      against: bases.counted,
      target: { ratioAtMost: 1.1 },
      ...compare(ours, counted, measure),
    })
    const { target: _, ...p50 } = row('p50', 'ms', latencyAt(0.5))
    figures.push(
      { ...p50, against: bases.bare, ...compare(ours, bare, latencyAt(0.5)) },
      row('p50', 'ms', latencyAt(0.5)),
      row('p99', 'ms', latencyAt(0.99)),
      { ...row('throughput', '1/s', perSecond), target: { ratioAtLeast: 0.9 } },
    )
    if (concurrency === 1) cpu = [{ ...row('', 'µs', cpuEach), name: 'CPU' }]
  }
  return [...figures, ...cpu]
}

/** Returns the calls of the given charges. The function makes them, but nothing is written. */
const chargeCalls = async (name: string, count: number): Promise<Call[][]> => {
  const event = await chargeEvents()
  const handler = newCharge(fastClock())
  // Not intercepted, so that it fills the caches.
  await call(handler, event(`${name}-first`), 202)
  const calls: Call[][] = []
  const untap = tapWire(async (request) => {
    calls.at(-1)?.push(request)
    const isCounter = request.operation === 'UpdateItem'
    return wireResponse(isCounter ? { Attributes: { requests: { N: '1' } } } : {})
  })
  for (let index = 0; index < count; index += 1) {
    calls.push([])
    await call(handler, event(`${name}-${index}`), 202)
  }
  untap()
  const operations = new Set(calls.map((sent) => sent.map(({ operation }) => operation).join()))
  if ([...operations].join(' ') !== 'UpdateItem,TransactWriteItems') {
    throw new Error('A charge no longer sends one counter and one transaction')
  }
  return calls
}

const charge = onFixture(async ({ rounds, short }) => {
  const event = await chargeEvents()
  const handler = newCharge(fastClock())
  const plan = {
    concurrencies: [1, 8, 32],
    bases: { bare: 'bare TransactWriteItems', counted: 'bare UpdateItem and TransactWriteItems' },
    rounds,
    count: short ? 100 : 200,
    chunk: 50,
  }
  // One round warms up.
  const requests = (plan.rounds * plan.concurrencies.length + 1) * plan.count
  const client = bareClient()
  const bare = await chargeCalls('bare', requests)
  const counted = await chargeCalls('counted', requests)
  const works = {
    ours: (index: number) => call(handler, event(`order-2026-11-21-${index}`), 202),
    bare: (index: number) => sendBare(client, bare[index]?.[1]),
    counted: async (index: number) => {
      for (const request of counted[index] ?? []) await sendBare(client, request)
    },
  }
  return {
    title: 'Charge',
    explanation:
      'A warm charge and its database calls by a bare client, without and with the rate counter.',
    figures: await requestFigures(works, plan),
  }
})

/** Charges once and returns a function that reads the status of the debit. */
const statusReads = async () => {
  const charged = await call(newCharge(fastClock()), (await chargeEvents())('order'), 202)
  const event = await statusEvent(charged)
  const handler = getDebitRequest(fastClock())
  const readStatus = () => call(handler, event, 200)
  await readStatus()
  return { readStatus, event }
}

const status = onFixture(async ({ rounds, short }) => {
  const { readStatus } = await statusReads()
  const calls: Call[] = []
  const untap = tapWire((request, proceed) => {
    calls.push(request)
    return proceed()
  })
  await readStatus()
  untap()
  const reads = calls.filter(({ operation }) => operation === 'GetItem')
  const counters = calls.filter(({ operation }) => operation === 'UpdateItem')
  if (reads.length !== 1 || counters.length !== 2 || calls.length !== 3) {
    throw new Error('A status read no longer sends one read and two counters')
  }
  const client = bareClient()
  const sendAll = (some: readonly Call[]) =>
    Promise.all(some.map((request) => sendBare(client, request)))
  const works = {
    ours: readStatus,
    bare: () => sendAll(reads),
    counted: () => sendAll([...reads, ...counters]),
  }
  return {
    title: 'Status read',
    explanation:
      'A warm status read and its database calls by a bare client, without and with rate counters.',
    figures: await requestFigures(works, {
      concurrencies: [1, 32],
      bases: { bare: 'bare GetItem', counted: 'bare GetItem and two UpdateItem' },
      rounds,
      count: short ? 100 : 300,
      chunk: 100,
    }),
  }
})

const REQUESTS = 4_000
const EVENTS = 1_000

/** Returns both functions, warm, with a client whose `send` returns without calling the SDK. */
const ownWorks = async () => {
  const { readStatus, event } = await statusReads()
  const chargeEvent = await chargeEvents()
  const handler = newCharge(fastClock())
  await call(handler, chargeEvent('first'), 202)
  const { reference } = event.pathParameters
  const replies: Record<string, unknown> = {
    GetCommand: { Item: await read(keys.debit(reference as Parameters<typeof keys.debit>[0])) },
    UpdateCommand: { Attributes: { requests: 1 } },
    TransactWriteCommand: {},
  }
  Object.assign(table, { send: async (command: object) => replies[command.constructor.name] })
  // Built in advance, because API Gateway builds them on AWS.
  const events = Array.from({ length: EVENTS }, (_, index) => chargeEvent(`order-${index}`))
  return {
    charge: (index: number) =>
      call(handler, { ...(events[index % EVENTS] ?? chargeEvent('')) }, 202),
    'status read': readStatus,
  }
}

const ownTime = onFixture(async ({ rounds, short }) => {
  const works = await ownWorks()
  const load = (count: number) => ({ count, chunk: count, concurrency: 1 })
  await interleaved(works, { ...load(REQUESTS), rounds: 1 })
  const samples = await interleaved(works, { ...load(short ? REQUESTS / 2 : REQUESTS), rounds })
  return {
    title: 'Own time',
    explanation: 'CPU per request when `send` of the SDK returns immediately.',
    figures: Object.entries(samples).map(([name, taken]) => ({
      name,
      unit: 'µs',
      ours: median(taken.map(cpuEach)),
      target: { atMost: 20 },
    })),
  }
})

export const parts = { charge, status, 'own-time': ownTime }
