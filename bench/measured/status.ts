import { bareClient, sendBarely } from '../bare.ts'
import { beside, type Figure } from '../figures.ts'
import { openGround, setEnvironment } from '../ground.ts'
import type { Measure } from '../part.ts'
import { asked, chargeEvents, hurriedClock, sampleEvent } from '../requests.ts'
import { at, cpuEach, inTurns, perSecond, type Work } from '../samples.ts'
import { type Call, recordCalls } from '../wire.ts'

/** A status read by the function itself, warm, beside the bare read, alone and with its counters. */

const CONCURRENCIES = [1, 32] as const
const REQUESTS = 300
const CHUNK = 100

setEnvironment()
const { charge } = await import('../../functions/provider/charge.ts')
const { getDebitRequest } = await import('../../functions/provider/get-debit-request.ts')

const bareWorks = (calls: readonly Call[]): { bare: Work; counted: Work } => {
  const client = bareClient()
  const reads = calls.filter(({ operation }) => operation === 'GetItem')
  const counts = calls.filter(({ operation }) => operation === 'UpdateItem')
  if (reads.length !== 1 || calls.length !== 3) {
    throw new Error('A status is no longer one read and two counts')
  }
  const bare = () => Promise.all(reads.map((one) => sendBarely(client, one)))
  const countUp = counts.map((one) => () => sendBarely(client, one))
  return { bare, counted: () => Promise.all([bare(), ...countUp.map((count) => count())]) }
}

export const measure: Measure = async ({ rounds, short }) => {
  const ground = await openGround()
  try {
    const charged = await asked(charge(hurriedClock()), (await chargeEvents())('order'), 202)
    const { reference } = JSON.parse(charged.body).data
    const event = { ...(await sampleEvent('get-debit-request')), pathParameters: { reference } }
    const handler = getDebitRequest(hurriedClock())
    const own = () => asked(handler, event, 200)
    await own()
    const works = { own, ...bareWorks(await recordCalls(own)) }
    const plan = { count: short ? REQUESTS / 3 : REQUESTS, chunk: CHUNK }
    await inTurns(works, { ...plan, rounds: 2, together: 8 })
    const figures: Record<string, Figure> = {}
    for (const together of CONCURRENCIES) {
      const samples = await inTurns(works, { ...plan, rounds, together })
      Object.assign(figures, {
        [`status ${together} bare p50`]: beside(samples.own, samples.bare, at(0.5)),
        [`status ${together} p50`]: beside(samples.own, samples.counted, at(0.5)),
        [`status ${together} p99`]: beside(samples.own, samples.counted, at(0.99)),
        [`status ${together} throughput`]: beside(samples.own, samples.counted, perSecond),
      })
      if (together === 1) figures['status cpu'] = beside(samples.own, samples.counted, cpuEach)
    }
    return { figures }
  } finally {
    await ground.stop()
  }
}
