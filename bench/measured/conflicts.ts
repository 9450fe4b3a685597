import { setTimeout as pause } from 'node:timers/promises'
import { type Figure, ratioOf } from '../figures.ts'
import { onFixture, operate, setEnvironment } from '../fixture.ts'
import { chargeEvents, context, fastClock } from '../requests.ts'
import { percentile } from '../samples.ts'
import { tapWire, wireResponse } from '../wire.ts'

const PER_MINUTE = 1_000
const STEADY = 100
const BURST = 100
/** Charges of 1.00 that the daily limit allows out of a burst. */
const WITHIN_LIMIT = 60
/** Below the gateway's timeout. */
const LONGEST_MS = 12_000
const DAY = '2026-11-21'

setEnvironment()
const { charge } = await import('../../functions/provider/charge.ts')
const { keys } = await import('../../shared/store/keys.ts')
const { read } = await import('../../shared/store/table.ts')

/** A transaction over four items takes about ten milliseconds on AWS; a conflict takes half of it. */
const LATENCY_MS = 10

/** Whether a transaction on an item of another one in flight is cancelled. */
let conflicts = false
/** All transactions sent, including cancelled ones. */
let transactions = 0
const inFlight = new Set<string>()

type Write = Record<string, { Key?: object; Item?: { pk: object; sk: object } }>

/** Adds to DynamoDB Local the latency of transactions on AWS, and their conflicts. */
const addLatency = (): void => {
  tapWire(async ({ operation, input }, proceed) => {
    if (operation !== 'TransactWriteItems') return proceed()
    transactions += 1
    const items = (input.TransactItems as Write[]).flatMap((write) =>
      Object.values(write).map(({ Key, Item }) =>
        JSON.stringify(Item ? { pk: Item.pk, sk: Item.sk } : Key),
      ),
    )
    const reasons = items.map((item) => (inFlight.has(item) ? 'TransactionConflict' : 'None'))
    if (conflicts && reasons.includes('TransactionConflict')) {
      await pause(LATENCY_MS / 2)
      const body = {
        __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
        CancellationReasons: reasons.map((Code) => ({ Code })),
      }
      return wireResponse(body, 400)
    }
    for (const item of items) inFlight.add(item)
    await pause(LATENCY_MS)
    for (const item of items) inFlight.delete(item)
    // No longer in flight: DynamoDB Local takes many times longer than AWS.
    return proceed()
  })
}

type Reply = { latency: number; status: number }
type Call = () => Promise<number>

/** @param interval milliseconds between charges; 0 sends all at once */
const chargeMany = (call: Call, count: number, interval: number): Promise<Reply[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      // At a random moment of its interval, because callers are not synchronized.
      await pause(interval * (index + Math.random()))
      const start = performance.now()
      return { status: await call(), latency: performance.now() - start }
    }),
  )

/** Returns a function that charges once and returns the HTTP status. */
const chargeAs = async (token: string): Promise<Call> => {
  const event = await chargeEvents()
  const handler = charge(fastClock(new Date(`${DAY}T00:00:00.000Z`)))
  let count = 0
  return async () => {
    count += 1
    const request = event(`${token}-${count}`)
    const headers = { ...request.multiValueHeaders, Authorization: [`Bearer ${token}`] }
    const { statusCode } = await handler({ ...request, multiValueHeaders: headers }, context)
    return statusCode
  }
}

type Run = { replies: Reply[]; retries: number }

const figuresOf = (name: string, ours: Run, base: Run): Figure[] => {
  const row = (metric: string, share: number): Figure => {
    const [value = Number.NaN, baseline = Number.NaN] = [ours, base].map(({ replies }) =>
      percentile(
        replies.map(({ latency }) => latency),
        share,
      ),
    )
    return {
      name: `charge, ${metric}, ${name}`,
      unit: 'ms',
      against: 'the same without conflicts',
      ...ratioOf(value, baseline),
    }
  }
  return [
    row('p50', 0.5),
    row('p99', 0.99),
    { ...row('slowest', 1), target: { atMost: LONGEST_MS } },
    { name: `retries per charge, ${name}`, ours: ours.retries / ours.replies.length },
  ]
}

const countOf = (replies: readonly Reply[], status: number): number =>
  replies.filter((reply) => reply.status === status).length

/** Returns how far a burst above the daily limit exceeds or misses the limit. */
const limitError = async (): Promise<number> => {
  const options = { provider: 'other', 'daily-limit': `${WITHIN_LIMIT}.00` }
  await operate({ noun: 'limit', verb: 'set', options })
  const replies = await chargeMany(await chargeAs('sk_sandbox_other'), BURST, 0)
  const provider = 'other' as Parameters<typeof keys.dayTotal>[0]
  const total = await read<{ amountTotal: number }>(keys.dayTotal(provider, DAY))
  const accepted = countOf(replies, 202)
  const isExact =
    accepted === WITHIN_LIMIT &&
    countOf(replies, 400) === BURST - WITHIN_LIMIT &&
    total?.amountTotal === WITHIN_LIMIT * 100
  return isExact ? 0 : Math.abs(accepted - WITHIN_LIMIT) || 1
}

/** Returns the runs with and without conflicts. */
const runBoth = async (call: Call, rounds: number, count: number, interval: number) => {
  const runs: [ours: Run, base: Run] = [
    { replies: [], retries: 0 },
    { replies: [], retries: 0 },
  ]
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, run] of runs.entries()) {
      conflicts = index === 0
      transactions = 0
      run.replies.push(...(await chargeMany(call, count, interval)))
      run.retries += transactions - count
    }
  }
  return runs
}

const measureConflicts = onFixture(async ({ rounds, short }) => {
  addLatency()
  const call = await chargeAs('sk_sandbox_demo')
  await chargeMany(call, BURST * 3, 5)
  const steady = await runBoth(call, rounds, short ? STEADY / 2 : STEADY, 60_000 / PER_MINUTE)
  const burst = await runBoth(call, rounds, BURST, 0)
  const replies = [steady, burst].flatMap(([ours]) => ours.replies)
  conflicts = true
  const none = { atMost: 0 }
  return {
    title: 'Conflicts',
    explanation: 'Charges that update the same daily total, with and without conflicts.',
    figures: [
      ...figuresOf('1,000 a minute', ...steady),
      ...figuresOf('100 at once', ...burst),
      { name: 'failed charges', ours: replies.length - countOf(replies, 202), target: none },
      {
        name: 'charges above or below the daily limit, 100 at once',
        ours: await limitError(),
        target: none,
      },
    ],
  }
})

export const parts = { conflicts: measureConflicts }
