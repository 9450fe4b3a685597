import { openFixture, setEnvironment } from '../fixture.ts'
import type { Measure } from '../part.ts'
import { call, chargeEvents, fastClock, statusEvent } from '../requests.ts'
import { cpuEach, interleaved, median } from '../samples.ts'

const REQUESTS = 4_000
const EVENTS = 1_000

setEnvironment()
const { charge } = await import('../../functions/provider/charge.ts')
const { getDebitRequest } = await import('../../functions/provider/get-debit-request.ts')
const { keys } = await import('../../shared/store/keys.ts')
const { read, table } = await import('../../shared/store/table.ts')

/** Returns both functions, warm, with a client whose `send` returns without calling the SDK. */
const warmWorks = async () => {
  const chargeEvent = await chargeEvents()
  const chargeHandler = charge(fastClock())
  const charged = await call(chargeHandler, chargeEvent('first'), 202)
  const event = await statusEvent(charged)
  const statusHandler = getDebitRequest(fastClock())
  await call(statusHandler, event, 200)
  const { reference } = event.pathParameters
  const replies: Record<string, unknown> = {
    GetCommand: { Item: await read(keys.debit(reference as Parameters<typeof keys.debit>[0])) },
    UpdateCommand: { Attributes: { requests: 1 } },
    TransactWriteCommand: {},
  }
  const send = async (command: object) => replies[command.constructor.name]
  Object.assign(table, { send })
  // Built in advance, because API Gateway builds them on AWS.
  const events = Array.from({ length: EVENTS }, (_, index) => chargeEvent(`order-${index}`))
  return {
    charge: (index: number) =>
      call(chargeHandler, { ...(events[index % EVENTS] ?? chargeEvent('')) }, 202),
    'status read': () => call(statusHandler, event, 200),
  }
}

export const measure: Measure = async ({ rounds, short }) => {
  const fixture = await openFixture()
  try {
    const works = await warmWorks()
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
  } finally {
    await fixture.stop()
  }
}
