import { compare, type Figure } from '../figures.ts'
import { onFixture, operate, setEnvironment } from '../fixture.ts'
import { call, chargeEvents, type Handler, statusEvent } from '../requests.ts'
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
import { bareClient, type Call, tapTable } from '../table-calls.ts'

/** A charge and a status read: compared with their database calls by clients of the SDK, and alone. */

setEnvironment()
const { charge: newCharge } = await import('../../../functions/provider/charge.ts')
const { getDebitRequest } = await import('../../../functions/provider/get-debit-request.ts')
const { real } = await import('../../../shared/runtime.ts')
const { keys } = await import('../../../shared/store/keys.ts')
const { read, table } = await import('../../../shared/store/table.ts')

/** Requests per minute: about three times as many as the machine sends. */
const PER_MINUTE = 100_000

const setLimits = async (): Promise<void> => {
  for (const operation of ['charge', 'get-debit-request']) {
    const options = { provider: 'demo', operation, 'per-minute': String(PER_MINUTE) }
    await operate({ noun: 'limit', verb: 'set', options })
  }
}

type Plan = Omit<Load, 'concurrency'> & {
  concurrencies: readonly number[]
  /** The operation that a request needs at least, and the largest ratio of p50. */
  bare: { name: string; ratioAtMost: number }
}

/** `bare`: one call by a client of the SDK; `same`: the calls of ours by that client. */
type Works = Record<'ours' | 'bare' | 'same', Work>

const SAME = 'the same calls'

/** Compares latency, throughput and CPU of our requests with calls by bare clients. */
const requestFigures = async (works: Works, plan: Plan): Promise<Figure[]> => {
  const { concurrencies, bare: single, ...load } = plan
  await interleaved(works, { ...load, rounds: 1, concurrency: 8 })
  const figures: Figure[] = []
  let cpu: Figure[] = []
  for (const concurrency of concurrencies) {
    const { ours, bare, same } = await interleaved(works, { ...load, concurrency })
    const row = (
      metric: string,
      unit: 'ms' | 'µs' | '1/s',
      measure: (sample: Sample) => number,
    ) => ({
      name: `${metric}, concurrency ${concurrency}`,
      unit,
      against: SAME,
      target: { ratioAtMost: 1.1 },
      ...compare(ours, same, measure),
    })
    figures.push(
      {
        ...row('p50', 'ms', latencyAt(0.5)),
        against: single.name,
        target: { ratioAtMost: single.ratioAtMost },
        ...compare(ours, bare, latencyAt(0.5)),
      },
      row('p99', 'ms', latencyAt(0.99)),
      { ...row('throughput', '1/s', perSecond), target: { ratioAtLeast: 0.9 } },
    )
    if (concurrency === 1) {
      cpu = [{ ...row('', 'µs', cpuEach), name: 'CPU', target: { ratioAtMost: 1.3 } }]
    }
  }
  return [...figures, ...cpu]
}

/** Returns the calls of the given requests. Reads reach the table, writes do not. */
const callsOf = async (send: Work, count: number): Promise<Call[][]> => {
  const calls: Call[][] = []
  const windows = new Map<string, { requests: number; floating: number }>()
  const untap = tapTable(async (call, proceed) => {
    calls.at(-1)?.push(call)
    if (call.name === 'GetCommand') return proceed()
    if (call.name !== 'UpdateCommand') return {}
    const { Key, ExpressionAttributeValues: values } = call.input
    const { requests, floating } = windows.get(Key.pk) ?? { requests: 0, floating: 0 }
    const Attributes = {
      requests: requests + values[':tokens'],
      floating: floating + values[':change'],
    }
    windows.set(Key.pk, Attributes)
    return { Attributes }
  })
  for (let index = 0; index < count; index += 1) {
    calls.push([])
    await send(index)
  }
  untap()
  return calls
}

/** Returns the calls by a bare client: `name` alone, and all calls of a request, in order or at once. */
const bareWorks = (calls: readonly Call[][], name: string, isSequential: boolean) => {
  const single = calls.map((sent) => sent.find((one) => one.name === name))
  if (single.includes(undefined)) throw new Error(`A request no longer sends ${name}`)
  const client = bareClient()
  return {
    bare: async (index: number) => single[index]?.sendBy(client),
    same: async (index: number) => {
      const own = calls[index] ?? []
      if (isSequential) for (const one of own) await one.sendBy(client)
      else await Promise.all(own.map((one) => one.sendBy(client)))
    },
  }
}

/** The number of requests of each kind; one round warms up. */
const requestsIn = ({
  rounds,
  concurrencies,
  count,
}: Pick<Plan, 'rounds' | 'concurrencies' | 'count'>) => (rounds * concurrencies.length + 1) * count

const perRequest = (calls: readonly Call[][]): string =>
  `Calls of the table per request: ${(calls.flat().length / calls.length).toFixed(2)}.`

const charge = onFixture(async ({ rounds, short }) => {
  await setLimits()
  const event = await chargeEvents()
  const send = (handler: Handler, name: string) => (index: number) =>
    call(handler, event(`order-${name}-${index}`), 202)
  const plan = {
    concurrencies: [1, 8, 32],
    bare: { name: 'bare TransactWriteItems', ratioAtMost: 1.1 },
    rounds,
    count: short ? 100 : 200,
    chunk: 50,
  }
  const recorded = async (name: string) => {
    const request = send(newCharge(real), name)
    // Not intercepted, so that it fills the caches.
    await request(-1)
    return callsOf(request, requestsIn(plan))
  }
  // Each list creates debits of its own.
  const same = await recorded('same')
  const works = {
    ours: send(newCharge(real), 'ours'),
    bare: bareWorks(await recorded('bare'), 'TransactWriteCommand', true).bare,
    same: bareWorks(same, 'TransactWriteCommand', true).same,
  }
  return {
    title: 'Charge',
    explanation: 'A warm charge, and its database calls by clients of the SDK.',
    figures: await requestFigures(works, plan),
    notes: ['', perRequest(same)],
  }
})

/** Charges once and returns a function that reads the status of the debit. */
const statusReads = async () => {
  const charged = await call(newCharge(real), (await chargeEvents())('order'), 202)
  const event = await statusEvent(charged)
  const handler = getDebitRequest(real)
  const readStatus = () => call(handler, event, 200)
  await readStatus()
  return { readStatus, event }
}

const status = onFixture(async ({ rounds, short }) => {
  await setLimits()
  const { readStatus } = await statusReads()
  const plan = {
    concurrencies: [1, 32],
    bare: { name: 'bare GetItem', ratioAtMost: 1.3 },
    rounds,
    count: short ? 100 : 300,
    chunk: 100,
  }
  const calls = await callsOf(readStatus, requestsIn(plan))
  return {
    title: 'Status read',
    explanation: 'A warm status read, and its database calls by clients of the SDK.',
    figures: await requestFigures(
      { ours: (await statusReads()).readStatus, ...bareWorks(calls, 'GetCommand', false) },
      plan,
    ),
    notes: ['', perRequest(calls)],
  }
})

const REQUESTS = 4_000
const EVENTS = 1_000

/** Returns both functions, warm, with a client whose `send` returns without calling the SDK. */
const ownWorks = async () => {
  await setLimits()
  const { readStatus, event } = await statusReads()
  const chargeEvent = await chargeEvents()
  const handler = newCharge(real)
  await call(handler, chargeEvent('first'), 202)
  const { reference } = event.pathParameters
  const replies: Record<string, unknown> = {
    GetCommand: { Item: await read(keys.debit(reference as Parameters<typeof keys.debit>[0])) },
    UpdateCommand: { Attributes: { requests: 1, floating: 0 } },
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
