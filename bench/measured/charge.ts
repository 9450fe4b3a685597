import { openFixture, setEnvironment } from '../fixture.ts'
import type { Measure } from '../part.ts'
import { requestFigures, requestsOf } from '../request-figures.ts'
import { call, chargeEvents, fastClock } from '../requests.ts'
import { bareClient, type Call, sendBare, tapWire, wireResponse } from '../wire.ts'

setEnvironment()
const { charge } = await import('../../functions/provider/charge.ts')

/** Returns the calls of `count` charges. The function makes them, but nothing is written. */
const prepareCalls = async (name: string, count: number): Promise<Call[][]> => {
  const event = await chargeEvents()
  const handler = charge(fastClock())
  // Not intercepted, so that it fills the caches.
  await call(handler, event(`${name}-first`), 202)
  const prepared: Call[][] = []
  const untap = tapWire(async (request) => {
    prepared.at(-1)?.push(request)
    return wireResponse(
      request.operation === 'UpdateItem' ? { Attributes: { requests: { N: '1' } } } : {},
    )
  })
  for (let index = 0; index < count; index += 1) {
    prepared.push([])
    await call(handler, event(`${name}-${index}`), 202)
  }
  untap()
  return prepared
}

const bareWorks = async (count: number) => {
  const client = bareClient()
  const [bare, counted] = [await prepareCalls('bare', count), await prepareCalls('counted', count)]
  const callsOf = (prepared: Call[][], index: number) => {
    const [counter, transaction] = prepared[index] ?? []
    if (counter?.operation !== 'UpdateItem' || transaction?.operation !== 'TransactWriteItems') {
      throw new Error('A charge no longer sends one counter and one transaction')
    }
    return { counter, transaction }
  }
  return {
    bare: (index: number) => sendBare(client, callsOf(bare, index).transaction),
    counted: async (index: number) => {
      const { counter, transaction } = callsOf(counted, index)
      await sendBare(client, counter)
      await sendBare(client, transaction)
    },
  }
}

export const measure: Measure = async ({ rounds, short }) => {
  const fixture = await openFixture()
  try {
    const event = await chargeEvents()
    const handler = charge(fastClock())
    const plan = {
      concurrencies: [1, 8, 32],
      against: {
        bare: 'bare TransactWriteItems',
        counted: 'bare UpdateItem and TransactWriteItems',
      },
      rounds,
      count: short ? 100 : 200,
      chunk: 50,
    }
    const works = {
      ours: (index: number) => call(handler, event(`order-2026-11-21-${index}`), 202),
      ...(await bareWorks(requestsOf(plan))),
    }
    return {
      title: 'Charge',
      explanation:
        'A warm charge and its database calls by a bare client, without and with the rate counter.',
      figures: await requestFigures(works, plan),
    }
  } finally {
    await fixture.stop()
  }
}
