import { openFixture, setEnvironment } from '../fixture.ts'
import type { Measure } from '../part.ts'
import { requestFigures } from '../request-figures.ts'
import { call, chargeEvents, fastClock, statusEvent } from '../requests.ts'
import { bareClient, type Call, sendBare, tapWire } from '../wire.ts'

setEnvironment()
const { charge } = await import('../../functions/provider/charge.ts')
const { getDebitRequest } = await import('../../functions/provider/get-debit-request.ts')

const recordCalls = async (work: () => Promise<unknown>): Promise<Call[]> => {
  const calls: Call[] = []
  const untap = tapWire((request, proceed) => {
    calls.push(request)
    return proceed()
  })
  await work()
  untap()
  return calls
}

const bareWorks = (calls: readonly Call[]) => {
  const client = bareClient()
  const reads = calls.filter(({ operation }) => operation === 'GetItem')
  const counters = calls.filter(({ operation }) => operation === 'UpdateItem')
  if (reads.length !== 1 || counters.length !== 2 || calls.length !== 3) {
    throw new Error('A status read no longer sends one read and two counters')
  }
  const sendAll = (some: readonly Call[]) =>
    Promise.all(some.map((request) => sendBare(client, request)))
  return { bare: () => sendAll(reads), counted: () => sendAll([...reads, ...counters]) }
}

export const measure: Measure = async ({ rounds, short }) => {
  const fixture = await openFixture()
  try {
    const charged = await call(charge(fastClock()), (await chargeEvents())('order'), 202)
    const event = await statusEvent(charged)
    const handler = getDebitRequest(fastClock())
    const ours = () => call(handler, event, 200)
    await ours()
    const plan = {
      concurrencies: [1, 32],
      against: { bare: 'bare GetItem', counted: 'bare GetItem and two UpdateItem' },
      rounds,
      count: short ? 100 : 300,
      chunk: 100,
    }
    return {
      title: 'Status read',
      explanation:
        'A warm status read and its database calls by a bare client, without and with rate counters.',
      figures: await requestFigures({ ours, ...bareWorks(await recordCalls(ours)) }, plan),
    }
  } finally {
    await fixture.stop()
  }
}
