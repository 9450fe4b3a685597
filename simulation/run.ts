import { closeConnections } from '../shared/webhooks/http/sender.ts'
import { type Aws, newAws } from './aws/aws.ts'
import { answerCalls } from './aws/sdk.ts'
import { type Clock, newClock } from './engine/clock.ts'
import { enter } from './engine/current.ts'
import { newEffects } from './engine/effects.ts'
import { REFERENCE_PREFIX } from './engine/environment.ts'
import { type FaultName, newFaults } from './engine/faults.ts'
import { current, type Invocations, newInvocations } from './engine/invocations.ts'
import type {
  Asked,
  HandOver,
  InvocationRecord,
  Post,
  Question,
  Witnessed,
} from './engine/observations.ts'
import { chanceOf, seedOf } from './engine/random.ts'
import { runtimeOf, timeoutsOf } from './engine/runtime.ts'
import { newTrace, type Trace } from './engine/trace.ts'
import { functions, type Run, timeoutOf } from './engine/warm-functions.ts'
import { newApi } from './peers/api.ts'
import { newNetwork, type Peer } from './peers/network.ts'
import { peersOf } from './peers/peers.ts'
import { newLives } from './scenario/clients.ts'
import { furnish, sceneProviders } from './scenario/fixtures.ts'
import { bankNames, type Plan } from './scenario/scenario.ts'

/**
 * The whole service in a world of its own: the real functions on a table, queues, timers, banks and
 * receivers that exist in memory, with one clock that goes from one thing to the next. The same
 * plan gives the same world, to the last write.
 */

export type Lived = {
  witnessed: Witnessed
  /** Of all that happened, in its order. */
  digest: string
  steps: number
  hits: ReadonlyMap<FaultName, number>
  /** The effects of workers before the world heals, by name, in their order. */
  effects: readonly string[]
}

/** How far clocks may be apart from that of the world. */
const SKEW_MS = 5_000
const STEPS_MAX = 5_000_000

export const live = async (plan: Plan, print?: (line: string) => void): Promise<Lived> => {
  const chance = chanceOf(seedOf(plan.seed, 3))
  const clock = newClock(plan.startAt)
  const trace = newTrace(clock, print)
  const faults = newFaults(chance, plan.faults, plan.intensity)
  const effects = newEffects({ clock, chance, faults, trace, deaths: plan.deaths })
  const skew = () => (faults.strikes('clock skew') ? chance.between(-SKEW_MS, SKEW_MS) : 0)
  const records = new Map<number, InvocationRecord>()
  const run = running(newInvocations({ clock, skew }), { clock, trace, records })
  const aws = newAws({ clock, chance, faults, effects, plan, run })
  answerCalls(aws.answer)

  const seen = {
    asked: [] as Asked[],
    posts: [] as Post[],
    handOvers: [] as HandOver[],
    questions: [] as Question[],
  }
  const api = newApi({ clock, chance, faults, run, asked: seen.asked })
  const lives = newLives({ api, clock, chance })
  // Whoever is called is known before the first call, and only then.
  let peerAt: (host: string) => Peer
  const network = newNetwork({ clock, chance, effects, peerAt: (host) => peerAt(host) })
  enter({
    runtime: runtimeOf(clock, chance),
    network,
    timeout: timeoutsOf(clock, network.isAwaited),
  })
  peerAt = peersOf({ clock, chance, faults, plan, lives, ...seen })

  await furnish(new Date(plan.startAt), plan.providers)
  for (const life of plan.lives) void lives.live(life)
  clock.at(plan.healAt, faults.heal)
  const steps = await pass(clock, plan.endAt)
  await closeConnections()
  return {
    witnessed: { ...seen, ...left(aws), invocations: records, scene: sceneOf(plan) },
    digest: trace.digest(),
    steps,
    hits: faults.hits,
    effects: effects.made.filter(({ at }) => at < plan.healAt).map(({ name }) => name),
  }
}

type Recording = { clock: Clock; trace: Trace; records: Map<number, InvocationRecord> }

/** Has functions run, and says so. */
const running =
  (invocations: Invocations, { clock, trace, records }: Recording): Run =>
  async (name, event, began) => {
    const record = { startedAt: clock.now(), isFinished: false }
    const came = await invocations.run(name, timeoutOf(name), () => {
      const { number = 0 } = current() ?? {}
      records.set(number, record)
      began?.(number)
      trace.tell(`${name}#${number} begins`)
      return functions[name](event, { functionName: name } as never)
    })
    trace.tell(`${name} ends: ${came.kind}`)
    record.isFinished = isFinished(came)
    return came
  }

const isFinished = (came: Awaited<ReturnType<Run>>): boolean => {
  if (came.kind !== 'done') return false
  const { batchItemFailures = [] } = (came.value ?? {}) as { batchItemFailures?: unknown[] }
  return batchItemFailures.length === 0
}

/** Everything that waits to be done goes before the next thing happens. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

/** @returns how many things happened */
const pass = async (clock: Clock, endAt: number): Promise<number> => {
  let steps = 0
  await settled()
  while (clock.step(endAt)) {
    steps += 1
    if (steps > STEPS_MAX) throw new Error('The world never comes to rest')
    await settled()
  }
  return steps
}

const left = ({ items, changes, deadLetters }: Aws) => ({
  items: items(),
  changes,
  deadLetters: deadLetters.map(({ queue, body }) => ({ queue, body })),
})

const sceneOf = (plan: Plan): Witnessed['scene'] => ({
  seed: plan.seed,
  referencePrefix: REFERENCE_PREFIX,
  startedAt: plan.startAt,
  healedAt: plan.healAt,
  endedAt: plan.endAt,
  healthy: plan.faults.size === 0 && plan.deaths.length === 0,
  skew: plan.faults.has('clock skew') ? SKEW_MS : 0,
  providers: sceneProviders,
  banks: bankNames,
  endpoints: bankNames.filter((name) => name !== 'SBX'),
})
