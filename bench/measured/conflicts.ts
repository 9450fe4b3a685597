import { setTimeout as pause } from 'node:timers/promises'
import { openContention } from '../contention.ts'
import { type Figure, ratioOf } from '../figures.ts'
import { openFixture, operate, setEnvironment } from '../fixture.ts'
import type { Measure } from '../part.ts'
import { chargeEvents, context, fastClock } from '../requests.ts'
import { percentile } from '../samples.ts'

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

export const measure: Measure = async ({ rounds, short }) => {
  const fixture = await openFixture()
  const contention = openContention()
  const run = async (call: Call, count: number, interval: number) => {
    const ours: Run = { replies: [], retries: 0 }
    const base: Run = { replies: [], retries: 0 }
    for (let round = 0; round < rounds; round += 1) {
      for (const [conflicts, result] of [[true, ours] as const, [false, base] as const]) {
        Object.assign(contention, { conflicts, transactions: 0 })
        result.replies.push(...(await chargeMany(call, count, interval)))
        result.retries += contention.transactions - count
      }
    }
    return { ours, base }
  }
  try {
    const call = await chargeAs('sk_sandbox_demo')
    contention.conflicts = false
    await chargeMany(call, BURST * 3, 5)
    const steady = await run(call, short ? STEADY / 2 : STEADY, 60_000 / PER_MINUTE)
    const burst = await run(call, BURST, 0)
    const replies = [...steady.ours.replies, ...burst.ours.replies]
    contention.conflicts = true
    return {
      title: 'Conflicts',
      explanation: 'Charges that update the same daily total, with and without conflicts.',
      figures: [
        ...figuresOf('1,000 a minute', steady.ours, steady.base),
        ...figuresOf('100 at once', burst.ours, burst.base),
        {
          name: 'failed charges',
          ours: replies.length - countOf(replies, 202),
          target: { atMost: 0 },
        },
        {
          name: 'charges above or below the daily limit, 100 at once',
          ours: await limitError(),
          target: { atMost: 0 },
        },
      ],
    }
  } finally {
    contention.stop()
    await fixture.stop()
  }
}
