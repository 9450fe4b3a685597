import { closeConnections } from '../shared/webhooks/http/sender.ts'
import { type Aws, newAws } from './aws/aws.ts'
import { REFERENCE_PREFIX } from './aws/environment.ts'
import { answerCalls } from './aws/sdk.ts'
import { type Clock, newClock } from './engine/clock.ts'
import { enter } from './engine/current.ts'
import { newEffects } from './engine/effects.ts'
import { type FaultName, newFaults } from './engine/faults.ts'
import { currentInvocation, type Invocations, newInvocations } from './engine/invocations.ts'
import { newNetwork, type Peer } from './engine/network.ts'
import type {
  ApiCall,
  BankPost,
  BankQuery,
  InvocationRecord,
  Observations,
  Post,
} from './engine/observations.ts'
import { randomOf, seedOf } from './engine/random.ts'
import { runtimeOf, timeoutsOf } from './engine/runtime.ts'
import { newTrace, type Trace } from './engine/trace.ts'
import { functions, type Run, timeoutOf } from './engine/warm-functions.ts'
import { newApi } from './peers/api.ts'
import { peersOf } from './peers/peers.ts'
import { newClients } from './scenario/clients.ts'
import { simulatedProviders, writeFixtures } from './scenario/fixtures.ts'
import { bankNames, type Scenario } from './scenario/scenario.ts'

/**
 * The whole service in a world of its own: the real functions on a table, queues, timers, banks and
 * receivers that exist in memory, with one clock that goes from one thing to the next. The same
 * scenario gives the same world, to the last write.
 */

export type WorldResult = {
  observations: Observations
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

export const runWorld = async (
  scenario: Scenario,
  print?: (line: string) => void,
): Promise<WorldResult> => {
  const random = randomOf(seedOf(scenario.seed, 3))
  const clock = newClock(scenario.startAt)
  const trace = newTrace(clock, print)
  const faults = newFaults(random, scenario)
  const effects = newEffects({ clock, random, faults, trace, crashes: scenario.crashes })
  const skew = () => (faults.strikes('clock skew') ? random.between(-SKEW_MS, SKEW_MS) : 0)
  const records = new Map<number, InvocationRecord>()
  const run = running(newInvocations({ clock, skew }), { clock, trace, records })
  const aws = newAws({ clock, random, faults, effects, scenario, run })
  answerCalls(aws.answer)

  const seen = {
    calls: [] as ApiCall[],
    posts: [] as Post[],
    bankPosts: [] as BankPost[],
    queries: [] as BankQuery[],
  }
  const api = newApi({ clock, random, faults, run, calls: seen.calls })
  const scripts = newClients({ api, clock, random })
  // Whoever is called is known before the first call, and only then.
  let peerAt: (host: string) => Peer
  const network = newNetwork({ clock, random, effects, peerAt: (host) => peerAt(host) })
  enter({
    runtime: runtimeOf(clock, random),
    network,
    timeout: timeoutsOf(clock, network.isAwaited),
  })
  peerAt = peersOf({ clock, random, faults, scenario, scripts, ...seen })

  await writeFixtures(new Date(scenario.startAt), scenario.providers)
  for (const script of scenario.scripts) void scripts.runWorld(script)
  clock.at(scenario.healAt, faults.heal)
  const steps = await pass(clock, scenario.endAt)
  await closeConnections()
  return {
    observations: { ...seen, ...left(aws), invocations: records, setup: sceneOf(scenario) },
    digest: trace.digest(),
    steps,
    hits: faults.hits,
    effects: effects.made.filter(({ at }) => at < scenario.healAt).map(({ name }) => name),
  }
}

type Recording = { clock: Clock; trace: Trace; records: Map<number, InvocationRecord> }

/** Has functions run, and says so. */
const running =
  (invocations: Invocations, { clock, trace, records }: Recording): Run =>
  async (name, event, began) => {
    const record = { startedAt: clock.now(), isFinished: false }
    const came = await invocations.run(name, timeoutOf(name), () => {
      const { number = 0 } = currentInvocation() ?? {}
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

const sceneOf = (scenario: Scenario): Observations['setup'] => ({
  seed: scenario.seed,
  referencePrefix: REFERENCE_PREFIX,
  startedAt: scenario.startAt,
  healedAt: scenario.healAt,
  endedAt: scenario.endAt,
  healthy: scenario.faults.size === 0 && scenario.crashes.length === 0 && !scenario.losses,
  skew: scenario.faults.has('clock skew') ? SKEW_MS : 0,
  providers: simulatedProviders,
  banks: bankNames,
  endpoints: bankNames.filter((name) => name !== 'SBX'),
})
