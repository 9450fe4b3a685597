import { bareClient, sendBarely } from '../bare.ts'
import { beside, type Figure } from '../figures.ts'
import { openGround, setEnvironment } from '../ground.ts'
import type { Measure, Options } from '../part.ts'
import { asked, chargeEvents, hurriedClock } from '../requests.ts'
import { at, cpuEach, inTurns, perSecond, type Sample, type Work } from '../samples.ts'
import { type Call, callOf, tapWire, wireReply } from '../wire.ts'

/**
 * A charge by the function itself, warm, beside the same items written by a bare client: in the one
 * transaction alone, and with the rate counter's round trip before it.
 */

const CONCURRENCIES = [1, 8, 32] as const
const REQUESTS = 200
const CHUNK = 50

setEnvironment()
const { charge } = await import('../../functions/provider/charge.ts')

/** The calls of other charges, as the function itself would make them, and nothing happens. */
const preparedCalls = async (name: string, count: number): Promise<Call[][]> => {
  const event = await chargeEvents()
  const handler = charge(hurriedClock())
  // Once for real: what a warm function remembers is read here.
  await asked(handler, event(`${name}-first`), 202)
  const prepared: Call[][] = []
  const untap = tapWire(async (request) => {
    const call = callOf(request)
    prepared.at(-1)?.push(call)
    return wireReply(
      call.operation === 'UpdateItem' ? { Attributes: { requests: { N: '1' } } } : {},
    )
  })
  for (let n = 0; n < count; n += 1) {
    prepared.push([])
    await asked(handler, event(`${name}-${n}`), 202)
  }
  untap()
  return prepared
}

const bareWorks = async (count: number): Promise<{ bare: Work; counted: Work }> => {
  const client = bareClient()
  const [alone, both] = [await preparedCalls('alone', count), await preparedCalls('both', count)]
  const callsOf = (prepared: Call[][], n: number) => {
    const [counter, transaction] = prepared[n] ?? []
    if (counter?.operation !== 'UpdateItem' || transaction?.operation !== 'TransactWriteItems') {
      throw new Error('A charge is no longer one count and one transaction')
    }
    return { counter, transaction }
  }
  return {
    bare: (n) => sendBarely(client, callsOf(alone, n).transaction),
    counted: async (n) => {
      const { counter, transaction } = callsOf(both, n)
      await sendBarely(client, counter)
      await sendBarely(client, transaction)
    },
  }
}

const figuresOf = (
  together: (typeof CONCURRENCIES)[number],
  { own, bare, counted }: Record<'own' | 'bare' | 'counted', Sample[]>,
): Record<string, Figure> => ({
  [`charge ${together} bare p50`]: beside(own, bare, at(0.5)),
  [`charge ${together} p50`]: beside(own, counted, at(0.5)),
  [`charge ${together} p99`]: beside(own, counted, at(0.99)),
  [`charge ${together} throughput`]: beside(own, counted, perSecond),
})

export const measure: Measure = async ({ rounds, short }: Options) => {
  const ground = await openGround()
  try {
    const requests = short ? REQUESTS / 2 : REQUESTS
    const event = await chargeEvents()
    const handler = charge(hurriedClock())
    const total = (CONCURRENCIES.length * rounds + 1) * requests
    const works = {
      own: (n: number) => asked(handler, event(`order-2026-11-21-${n}`), 202),
      ...(await bareWorks(total)),
    }
    await inTurns(works, { rounds: 1, count: requests, chunk: CHUNK, together: 8 })
    const figures: Record<string, Figure> = {}
    for (const together of CONCURRENCIES) {
      const samples = await inTurns(works, { rounds, count: requests, chunk: CHUNK, together })
      Object.assign(figures, figuresOf(together, samples))
      if (together === 1) figures['charge cpu'] = beside(samples.own, samples.counted, cpuEach)
    }
    return { figures }
  } finally {
    await ground.stop()
  }
}
