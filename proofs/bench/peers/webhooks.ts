import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { markdownTable } from '../figures.ts'
import { processorTime } from '../processor-time.ts'
import { percentile } from '../samples.ts'
import { startOutpost } from './outpost.ts'
import { startOwn } from './own.ts'
import type { Peer } from './peer.ts'
import { type Arrival, openReceiver } from './receivers.ts'

/**
 * `node proofs/bench/peers/webhooks.ts --peer own | outpost [--binaries DIR] [--sqs URL]
 * [--concurrency N] [--per-second N] [--seconds N] [--warm-up N] [--all-live]`: sends events of three
 * tenants to a receiver each, at a fixed rate. It prints the latency of the live receivers and the CPU
 * per event. The last receiver is dead, except with --all-live.
 */

const { values } = parseArgs({
  options: {
    peer: { type: 'string', default: 'own' },
    binaries: { type: 'string', default: '.' },
    sqs: { type: 'string', default: 'http://127.0.0.1:4566' },
    concurrency: { type: 'string', default: '200' },
    'per-second': { type: 'string', default: '60' },
    seconds: { type: 'string', default: '20' },
    'warm-up': { type: 'string', default: '10' },
    'all-live': { type: 'boolean', default: false },
  },
})
const [perSecond, seconds, warmUp] = (['per-second', 'seconds', 'warm-up'] as const).map((name) =>
  Number(values[name]),
) as [number, number, number]

const TENANTS = 3
const DRAIN_MS = 2_000
const isDead = (tenant: number): boolean => tenant === TENANTS - 1 && !values['all-live']

/** Times are milliseconds of performance.now(). */
type Request = { tenant: number; at: number; arrivals: Map<string, number> }
const requests = new Map<string, Request>()
const attempts = { live: 0, dead: 0 }
const faults: unknown[] = []

const take = (peer: Peer | undefined, tenant: number, arrival: Arrival): void => {
  attempts[isDead(tenant) ? 'dead' : 'live'] += 1
  if (!peer) return
  if (!arrival.headers[peer.signature]) faults.push(new Error('An event has no signature'))
  const timed = peer.timedEvent(arrival)
  if (!timed) return
  const { arrivals } = requests.get(timed.key) ?? {}
  if (!arrivals?.has(timed.event)) arrivals?.set(timed.event, arrival.at)
}

/** Sends requests at a fixed rate, also to a service that is slow. Returns those sent. */
const sendFor = async (peer: Peer, duration: number): Promise<Request[]> => {
  const rate = perSecond / peer.eventsPerRequest
  const first = requests.size
  const start = performance.now()
  for (let index = 0; index < duration * rate; index += 1) {
    await pause(Math.max(0, start + (index / rate) * 1_000 - performance.now()))
    const tenant = index % TENANTS
    const key = `order-${first + index}`
    requests.set(key, { tenant, at: performance.now(), arrivals: new Map() })
    peer.request(tenant, key).catch((fault) => faults.push(fault))
  }
  return [...requests.values()].slice(first)
}

/** Returns the seconds of CPU by program. */
const cpuOf = ({ processes }: Peer): [string, number][] =>
  Object.entries(processes).map(([name, pid]) => [name, processorTime(pid)])

let peer: Peer | undefined
const receivers = await Promise.all(
  Array.from({ length: TENANTS }, (_, tenant) =>
    openReceiver(isDead(tenant), (arrival) => take(peer, tenant, arrival)),
  ),
)
const urls = receivers.map(({ url }) => url)
const startPeer = (): Promise<Peer> => {
  const { peer: name, binaries: folder, concurrency, sqs } = values
  if (name !== 'outpost') return startOwn(urls)
  return startOutpost({ folder, concurrency: Number(concurrency), sqs }, urls)
}
peer = await startPeer()
try {
  await sendFor(peer, warmUp)
  const before = cpuOf(peer)
  const measured = await sendFor(peer, seconds)
  await pause(DRAIN_MS)
  const end = performance.now()
  const after = cpuOf(peer)
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} faults`)

  const { timedPerRequest, eventsPerRequest } = peer
  const live = measured.filter(({ tenant }) => !isDead(tenant))
  const latencies = live.flatMap(({ at, arrivals }) =>
    [...arrivals.values()].map((arrivedAt) => arrivedAt - at),
  )
  // An event that has not arrived counts with its age, so the percentiles are lower bounds.
  const ages = live.flatMap(({ at, arrivals }) =>
    Array(timedPerRequest - arrivals.size).fill(end - at),
  )
  const milliseconds = (share: number) => percentile([...latencies, ...ages], share).toFixed(1)
  const arrived = latencies.length / (latencies.length + ages.length)
  const [service = '', ...others] = after.map(([name, used], index) => {
    const [, usedBefore = 0] = before[index] ?? []
    const perEvent = (used - usedBefore) / (measured.length * eventsPerRequest)
    return `${name} ${(perEvent * 1_000).toFixed(2)}`
  })
  const columns = {
    peer: values.peer === 'outpost' ? `outpost, ${values.concurrency}` : values.peer,
    'events/s': values['per-second'],
    receivers: values['all-live'] ? 'all live' : 'one dead',
    'arrived, %': (arrived * 100).toFixed(1),
    'p50, ms': milliseconds(0.5),
    'p99, ms': milliseconds(0.99),
    'attempts, live + dead': `${attempts.live} + ${attempts.dead}`,
    'CPU, ms per event': service,
    'of stores and queue': others.join(', '),
  }
  const table = markdownTable(Object.keys(columns), [Object.values(columns)])
  process.stdout.write(`${table.join('\n')}\n`)
} finally {
  await peer.stop()
  for (const receiver of receivers) receiver.stop()
}
