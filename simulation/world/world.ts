import { jobs } from '../../infra/jobs.ts'
import { tableDefinition } from '../../infra/table.ts'
import { closeConnections } from '../../shared/webhooks/sender.ts'
import { unavailable } from '../aws/failures.ts'
import { queueFeed, streamFeed } from '../aws/lambda.ts'
import { queueCalls } from '../aws/queue-calls.ts'
import { newQueues, type Queues } from '../aws/queues.ts'
import { newScheduler } from '../aws/scheduler.ts'
import { answerCalls, type Command } from '../aws/sdk.ts'
import { newTable } from '../aws/table.ts'
import { tableCalls } from '../aws/table-calls.ts'
import { newApi } from '../peers/api.ts'
import { newBank } from '../peers/bank.ts'
import { newNetwork, type Peer } from '../peers/network.ts'
import { newReceiver } from '../peers/receiver.ts'
import { chanceOf, seedOf } from './chance.ts'
import { newClock } from './clock.ts'
import { newEffects } from './effects.ts'
import { REFERENCE_PREFIX } from './environment.ts'
import { type FaultName, newFaults } from './faults.ts'
import { type FunctionName, functions, timeoutOf } from './functions.ts'
import { enter } from './here.ts'
import { type Came, current, newInvocations } from './invocations.ts'
import { type Lives, newLives } from './lives.ts'
import { bankNames, type Life, type Plan } from './plan.ts'
import { runtimeOf, timeoutsOf } from './runtime.ts'
import { furnish, hostOf, scenePartners, secretOf } from './scene.ts'
import { newTrace } from './trace.ts'
import { newWatch } from './watch.ts'
import type { Asked, HandOver, Post, Witnessed } from './witness.ts'

/**
 * The whole service in a world of its own: the real functions on a table, queues, timers, banks and
 * receivers that exist in memory, with one clock that goes from one thing to the next. The same
 * plan gives the same world, to the last write.
 */

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** How far clocks may be apart from that of the world. */
const SKEW_MS = 5_000
const STEPS_MAX = 5_000_000

export type Lived = {
  witnessed: Witnessed
  /** Of all that happened, in its order. */
  digest: string
  steps: number
  hits: ReadonlyMap<FaultName, number>
  /** The effects of workers before the world heals, by name, in their order. */
  effects: readonly string[]
}

const streamed: readonly string[] = jobs.relay.from.stream

/** What the relay is not fed with does not reach it. */
const isStreamed = (entity: string | undefined): boolean =>
  entity !== undefined && streamed.includes(entity)

/** Everything that waits to be done goes before the next thing happens. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

export const live = async (plan: Plan, print?: (line: string) => void): Promise<Lived> => {
  const chance = chanceOf(seedOf(plan.seed, 3))
  const clock = newClock(plan.startAt)
  const trace = newTrace(clock, print)
  const faults = newFaults(chance, plan.faults)
  const effects = newEffects({ clock, chance, faults, trace, deaths: plan.deaths, pace: plan.pace })
  const invocations = newInvocations({
    clock,
    skew: () => (faults.strikes('clock skew') ? chance.between(-SKEW_MS, SKEW_MS) : 0),
  })
  const asked: Asked[] = []
  const posts: Post[] = []
  const handOvers: HandOver[] = []

  const run = async (
    name: FunctionName,
    event: unknown,
    began: (invocation: number) => void = () => undefined,
  ): Promise<Came<unknown>> => {
    const came = await invocations.run(name, timeoutOf(name), () => {
      const worker = current()
      began(worker?.number ?? 0)
      trace.tell(`${name}#${worker?.number} begins`)
      return functions[name](event, { functionName: name } as never)
    })
    trace.tell(`${name} ends: ${came.kind}`)
    return came
  }

  const queues: Queues = newQueues({ clock, chance, faults, onVisible: (one) => feed.offer(one) })
  const feed = queueFeed({ run, queues: () => queues, chance })
  const stream = streamFeed({ run, clock, chance, faults })
  const scheduler = newScheduler({ clock, chance, faults, effects, queues })
  const table = newTable({
    definition: tableDefinition,
    name: 'simulated',
    now: clock.now,
    indexLag: () => (faults.strikes('index late') ? chance.between(0, MINUTE_MS) : 0),
    by: () => {
      const worker = current()
      return worker && { name: worker.name, invocation: worker.number }
    },
  })
  const watch = newWatch({
    clock,
    ring: () => scheduler.ring('sweeps'),
    passOver: (until) => {
      const Item = {
        pk: 'SWEEP',
        sk: 'SWEEP',
        entity: 'sweep',
        until: new Date(until).toISOString(),
      }
      change('PutCommand', { TableName: 'simulated', Item })
    },
  })
  let followed = 0
  const change = (name: string, input: object): Record<string, unknown> => {
    try {
      return table.run(name, input)
    } finally {
      for (; followed < table.changes.length; followed += 1) {
        const one = table.changes[followed]
        if (!one) continue
        watch.follow(one)
        const { after } = one
        if (!after || !isStreamed(after.entity)) continue
        stream.take(table.streamRecord(one), after.pk)
      }
    }
  }

  const outage = (name: 'table outage' | 'queue outage') => {
    const from = plan.startAt + chance.between(0, plan.healAt - plan.startAt)
    const to = from + chance.between(MINUTE_MS, 10 * MINUTE_MS)
    return (): boolean => {
      if (clock.now() < from || clock.now() >= to || !faults.has(name)) return false
      faults.hit(name)
      return true
    }
  }
  const calls = [
    queueCalls({ queues, effects, faults, chance, isOut: outage('queue outage') }),
    scheduler.call,
    (command: Command) => reportCall(command, effects, () => faults.strikes('report not written')),
  ]
  const toTable = tableCalls({
    run: change,
    effects,
    faults,
    chance,
    clock,
    isOut: outage('table outage'),
  })
  answerCalls((command) => {
    for (const call of calls) {
      const answer = call(command)
      if (answer) return answer
    }
    return toTable(command)
  })

  const peers = new Map<string, Peer>()
  const network = newNetwork({
    clock,
    chance,
    effects,
    peerAt: (host) => {
      const peer = peers.get(host)
      if (!peer) throw new Error(`Nobody is at ${host}`)
      return peer
    },
  })
  enter({ runtime: runtimeOf(clock, chance), network, timeout: timeoutsOf(clock) })
  const api = newApi({ clock, chance, faults, run, asked })
  const lives: Lives = newLives({ api, clock, chance })

  const answers = [...plan.answers]
  for (const partner of scenePartners) {
    const downs = Array.from({ length: 3 }, () => {
      const from = plan.startAt + chance.between(0, plan.healAt - plan.startAt)
      return { from, to: from + chance.between(MINUTE_MS, 40 * MINUTE_MS) }
    })
    peers.set(hostOf(partner.id), newReceiver({ clock, chance, faults, posts, downs, answers }))
  }
  let payments = 0
  for (const id of bankNames) {
    const lifeOf = (body: Record<string, unknown>): Life | undefined => lives.named(body.narration)
    const bank = newBank({
      id,
      secret: secretOf(id),
      clock,
      chance,
      faults,
      handOvers,
      onSubmission: (body) => lifeOf(body)?.verdict ?? 'rejected',
      onAccepted: (body) => {
        const life = lifeOf(body)
        if (life) lives.taken(life, String(body.uuid))
      },
      onPayment: () => {
        payments += 1
        return plan.payments[payments % plan.payments.length] ?? 'paid'
      },
    })
    peers.set(hostOf(id), bank)
  }

  await furnish(new Date(plan.startAt), plan.partners)
  for (const life of plan.lives) void lives.live({ ...life, at: life.at })
  for (let day = Math.floor(plan.startAt / DAY_MS) + 1; day * DAY_MS < plan.endAt; day += 1) {
    for (const minutes of [0, 20, 60]) {
      clock.at(day * DAY_MS + minutes * MINUTE_MS, () => scheduler.ring('settlement-runs'))
    }
  }
  clock.at(plan.healAt, faults.heal)

  let steps = 0
  await settled()
  while (clock.step(plan.endAt)) {
    steps += 1
    if (steps > STEPS_MAX) throw new Error('The world never comes to rest')
    await settled()
  }
  await closeConnections()
  return {
    witnessed: {
      scene: {
        seed: plan.seed,
        referencePrefix: REFERENCE_PREFIX,
        startedAt: plan.startAt,
        healedAt: plan.healAt,
        endedAt: clock.now(),
        healthy: plan.faults.size === 0 && plan.deaths.length === 0,
        skew: plan.faults.has('clock skew') ? SKEW_MS : 0,
        partners: scenePartners,
        banks: bankNames,
      },
      items: table.items(),
      changes: table.changes,
      asked,
      posts,
      handOvers,
      deadLetters: queues.deadLetters.map(({ queue, body }) => ({ queue, body })),
    },
    digest: trace.digest(),
    steps,
    hits: faults.hits,
    effects: effects.made.filter(({ at }) => at < plan.healAt).map(({ name }) => name),
  }
}

/** Reports of batches go to S3, and nobody here reads them. */
const reportCall = (
  { constructor: { name }, input }: Command,
  effects: ReturnType<typeof newEffects>,
  fails: () => boolean,
): Promise<unknown> | undefined => {
  if (name !== 'PutObjectCommand') return undefined
  const outgoing = { name: `report ${input.Key}`, changes: true, takes: [20, 90] } as const
  return effects.call(outgoing, () => {
    if (fails()) throw unavailable()
    return {}
  })
}
