import { setTimeout as pause } from 'node:timers/promises'
import { openContention } from '../contention.ts'
import { type Figure, ratioOf } from '../figures.ts'
import { openGround, operate, setEnvironment } from '../ground.ts'
import type { Measure } from '../part.ts'
import { chargeEvents, context, type Handler, hurriedClock } from '../requests.ts'
import { percentile } from '../samples.ts'

/**
 * Charges that meet at one day total, beside the same charges where none is cancelled for it: a
 * thousand a minute of one provider, and a hundred at once.
 */

const PER_MINUTE = 1_000
const STEADY = 100
const BURST = 100
/** A charge is 1.00: so many of a burst fit what is left of the day. */
const FITTING = 60

setEnvironment()
const { charge } = await import('../../functions/provider/charge.ts')
const { keys } = await import('../../shared/store/keys.ts')
const { read } = await import('../../shared/store/table.ts')

const MIDNIGHT = new Date('2026-11-21T00:00:00.000Z')

type Charged = { latency: number; status: number }

/** @param paced how far apart they come, in milliseconds; 0: at once */
const chargeMany = async (ask: () => Promise<number>, count: number, paced: number) => {
  const one = async (n: number): Promise<Charged> => {
    // Each somewhere in its own stretch of time, as callers do not keep step.
    await pause(paced * (n + Math.random()))
    const begun = performance.now()
    return { status: await ask(), latency: performance.now() - begun }
  }
  return Promise.all(Array.from({ length: count }, (_, n) => one(n)))
}

const askerAs = async (token: string): Promise<() => Promise<number>> => {
  const event = await chargeEvents()
  const handler: Handler = charge(hurriedClock(MIDNIGHT))
  let n = 0
  return async () => {
    n += 1
    const asked = event(`${token}-${n}`)
    const Authorization = [`Bearer ${token}`]
    const headers = { ...asked.multiValueHeaders, Authorization }
    const { statusCode } = await handler({ ...asked, multiValueHeaders: headers }, context)
    return statusCode
  }
}

type Met = { charges: Charged[]; retries: number }

const figuresOf = (name: string, met: Met, free: Met): Record<string, Figure> => {
  const at = (share: number) => {
    const [own, base] = [met, free].map(({ charges }) =>
      percentile(
        charges.map(({ latency }) => latency),
        share,
      ),
    )
    return ratioOf(own ?? Number.NaN, base ?? Number.NaN)
  }
  return {
    [`conflicts ${name} p50`]: at(0.5),
    [`conflicts ${name} p99`]: at(0.99),
    [`conflicts ${name} slowest`]: at(1),
    [`conflicts ${name} retries`]: { own: met.retries / met.charges.length },
  }
}

/** By the table itself: what the day holds, beside what was accepted. */
const dayTotal = async (provider: string): Promise<number> => {
  const item = await read<{ amountTotal: number }>(
    keys.dayTotal(provider as Parameters<typeof keys.dayTotal>[0], '2026-11-21'),
  )
  return item?.amountTotal ?? 0
}

const countOf = (charges: readonly Charged[], status: number): number =>
  charges.filter((one) => one.status === status).length

export const measure: Measure = async ({ rounds, short }) => {
  const ground = await openGround()
  const contention = openContention()
  const metAndFree = async (ask: () => Promise<number>, count: number, paced: number) => {
    const met: Met = { charges: [], retries: 0 }
    const free: Met = { charges: [], retries: 0 }
    for (let round = 0; round < rounds; round += 1) {
      for (const [conflicts, into] of [[true, met] as const, [false, free] as const]) {
        Object.assign(contention, { conflicts, transactions: 0 })
        into.charges.push(...(await chargeMany(ask, count, paced)))
        into.retries += contention.transactions - count
      }
    }
    return { met, free }
  }
  try {
    const ask = await askerAs('sk_sandbox_demo')
    contention.conflicts = false
    await chargeMany(ask, BURST * 3, 5)
    const steady = await metAndFree(ask, short ? STEADY / 2 : STEADY, 60_000 / PER_MINUTE)
    const burst = await metAndFree(ask, BURST, 0)
    const charged = [steady, burst].flatMap(({ met }) => met.charges)
    const limit = `${FITTING}.00`
    await operate({
      noun: 'limit',
      verb: 'set',
      options: { provider: 'other', 'daily-limit': limit },
    })
    contention.conflicts = true
    const crowded = await chargeMany(await askerAs('sk_sandbox_other'), BURST, 0)
    const isExact =
      countOf(crowded, 202) === FITTING &&
      countOf(crowded, 400) === BURST - FITTING &&
      (await dayTotal('other')) === FITTING * 100
    return {
      figures: {
        ...figuresOf('steady', steady.met, steady.free),
        ...figuresOf('burst', burst.met, burst.free),
        'conflicts failed': { own: charged.length - countOf(charged, 202) },
        'conflicts limit': { own: isExact ? 0 : Math.abs(countOf(crowded, 202) - FITTING) || 1 },
      },
    }
  } finally {
    contention.end()
    await ground.stop()
  }
}
