import { functionRows } from '../../infra/definitions/functions.ts'
import { bucketAccesses } from '../../infra/definitions/permissions.ts'
import { newSteppedClock, type SteppedClock } from '../../sandbox/aws/clock.ts'
import { answerCalls } from '../../sandbox/aws/sdk.ts'
import { operations } from '../../shared/api/operations.ts'
import { closeConnections } from '../../shared/webhooks/http/connection.ts'
import { newAws } from './aws/aws.ts'
import { enter } from './engine/current.ts'
import { newEffects } from './engine/effects.ts'
import { newFaults } from './engine/faults.ts'
import {
  currentInvocation,
  drawSkew,
  type InvocationResult,
  type Invocations,
  newInvocations,
} from './engine/invocations.ts'
import { collectMetrics } from './engine/metrics.ts'
import { newNetwork, type Peer } from './engine/network.ts'
import type * as seen from './engine/observations.ts'
import { type Observations, subjectsIn } from './engine/observations.ts'
import { randomOf, seedOf } from './engine/random.ts'
import { runtimeOf, timeoutsOf } from './engine/runtime.ts'
import { setSizes } from './engine/sizes.ts'
import { newTrace, type Trace } from './engine/trace.ts'
import { type Run, startWorkers, timeoutOf } from './engine/warm-functions.ts'
import { DAY_MS, HOUR_MS } from './invariants/time-and-money.ts'
import { newApi } from './peers/api.ts'
import { newBooks } from './peers/books.ts'
import { invokeCalls, newOperators } from './peers/operators.ts'
import { peersOf } from './peers/peers.ts'
import { newSettings } from './scenario/change-settings.ts'
import { newClients } from './scenario/clients.ts'
import { falsify } from './scenario/falsify.ts'
import * as fixtures from './scenario/fixtures.ts'
import { startNights, startRounds } from './scenario/nights.ts'
import { eraseAfterDays, eraseCustomers, newRestore, newStage } from './scenario/restore.ts'
import type { Scenario } from './scenario/scenario.ts'
import { seedOfSizes, setupOf } from './scenario/setup.ts'

const STEPS_MAX = 5_000_000

/**
 * Runs the deployed functions against an in-memory AWS, banks and receivers, on one clock. Equal
 * scenarios give equal runs, down to the last write.
 */
export const runScenario = async (scenario: Scenario, print?: (line: string) => void) => {
  const random = randomOf(seedOf(scenario.seed, 3))
  const clock = newSteppedClock(scenario.startAt)
  const trace = newTrace(clock, print)
  const lists = newLists()
  collectMetrics(lists.measurements)
  const faults = newFaults(random, scenario, (name, about) => {
    const { worker = currentInvocation(), name: call = '' } = effects.acting() ?? {}
    const of = worker && `${worker.name} ${subjectsIn(events.get(worker.number))} ${call}`
    lists.strikes.push({ at: clock.now(), name, by: worker?.name, about: about || (of ?? '') })
  })
  const effects = newEffects({ clock, random, faults, trace, crashes: scenario.crashes })
  const invocations = new Map<number, seen.InvocationRecord>()
  const writers = new Set<seen.InvocationRecord>()
  const events = new Map<number, unknown>()
  const workers = newInvocations({ clock, skew: drawSkew(faults, random) })
  const run = recordedRun(workers, { clock, trace, invocations, writers, events })
  const stage = newStage()
  const { crashAll } = workers
  const aws = newAws({ clock, random, faults, effects, scenario, run, crashAll, stage, ...lists })

  const { isPaused } = stage
  const absent = fixtures.absentIn(scenario)
  const api = newApi({ clock, random, faults, run, calls: lists.calls, isPaused, absent })
  const operators = newOperators({ api, clock, random: randomOf(seedOf(scenario.seed, 11)) })
  const books = newBooks(clock, randomOf(seedOf(scenario.seed, 10)))
  const { reportsOnce } = scenario
  const clients = newClients({ api, operators, clock, random, books, reportsOnce })
  const invoke = invokeCalls({ api, clock, effects })
  answerCalls((command) => invoke(command) ?? aws.answer(command))
  setEnvironment(scenario)
  // The peers need the clients, which exist before the first call.
  let peerAt: (host: string) => Peer
  const network = newNetwork({ clock, random, effects, peerAt: (host) => peerAt(host) })
  const timeout = timeoutsOf(clock, network.isAwaited)
  enter({ runtime: runtimeOf(clock, random), network, timeout })
  peerAt = peersOf({ clock, random, faults, scenario, clients, books, ...lists })

  await fixtures.writeFixtures(new Date(scenario.startAt), scenario)
  for (const script of scenario.scripts) void clients.start(script)
  startNights(scenario, { clock, random, faults, operators })
  void newSettings({ api, operators, secrets: aws.secrets }).start(scenario.changes)
  startRounds(scenario, { api, operators, books })
  const { restoreTable } = aws
  void newRestore({ api, operators, clients, stage, restoreTable }).start(scenario)
  clock.at(scenario.healAt, faults.heal)
  const steps = await runUntil(scenario.endAt, clock, writers)
  // Copied: the erasures are not among the calls and changes of the run.
  const observed = copied({ ...lists, books: books.entries, changes: aws.changes })
  const ended = { items: aws.items(), invocations: new Map(invocations), setup: setupOf(scenario) }
  const erasures: seen.Erasure[] = []
  void eraseCustomers(scenario, { api, operators, ...aws }, erasures)
  if (scenario.erases) await runUntil(scenario.endAt + ERASURE_MS, clock, writers)
  const falsifying = scenario.erases ? undefined : falsify(scenario, { operators, ...aws })
  const [falsified] = await Promise.all([
    falsifying,
    runUntil(scenario.endAt + HOUR_MS, clock, writers),
  ])
  await closeConnections()
  const observations: Observations = { ...observed, ...ended, erasures, falsified }
  return {
    observations,
    digest: trace.digest(),
    steps,
    hits: faults.hits,
    /** The names of the effects before the faults stop, in order. */
    effects: effects.list.filter(({ at }) => at < scenario.healAt).map(({ name }) => name),
  }
}

const copied = <T extends Record<string, readonly unknown[]>>(lists: T): T =>
  Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, [...list]])) as never

const ERASURE_MS = 2 * DAY_MS

const setEnvironment = (scenario: Scenario): void => {
  setSizes(seedOfSizes(scenario))
  process.env.APPROVALS = String(scenario.approvals)
  process.env.PAYOUTS_WAIT_FOR_FUNDING = String(scenario.waitsForFunding)
  process.env.OPEN_PROMPTS_MAX = String(scenario.openPromptsMax ?? '')
  process.env.FEED_GROUPS = String(1 + (scenario.seed % 3))
  process.env.CACHE_SECONDS = String(scenario.cacheSeconds)
  process.env.ERASE_AFTER_DAYS = String(eraseAfterDays(scenario))
}

const newLists = () => ({
  calls: [] as seen.ApiCall[],
  posts: [] as seen.Post[],
  bankPosts: [] as seen.BankPost[],
  queries: [] as seen.BankQuery[],
  strikes: [] as Observations['strikes'][number][],
  repairs: [] as Observations['repairs'][number][],
  reports: [] as Observations['reports'][number][],
  measurements: [] as seen.Measurement[],
})

type Recording = {
  clock: SteppedClock
  trace: Trace
  invocations: Map<number, seen.InvocationRecord>
  /** The invocations that may stream a report now. */
  writers: Set<seen.InvocationRecord>
  events: Map<number, unknown>
}

const recordedRun = (workers: Invocations, recording: Recording): Run => {
  const { clock, trace, invocations, writers, events } = recording
  const callWorker = startWorkers()
  return async (name, event, onStart) => {
    const record = {
      ...{ name, startedAt: clock.now(), isFinished: false, repeated: repeatedIn(event) },
      payments: name === 'process-batch' ? subjectsIn(event) : '',
    }
    if (streaming.has(name)) writers.add(record)
    let own = 0
    const result = await workers.run(name, timeoutOf(name), () => {
      const { number = 0, late = [], refused = [] } = currentInvocation() ?? {}
      invocations.set(number, Object.assign(record, { late, refused }))
      own = number
      events.set(number, event)
      onStart?.(number)
      trace.log(`${name}#${number} starts`)
      const end = record.startedAt + timeoutOf(name) * 1000
      const getRemainingTimeInMillis = () => end - clock.now()
      // An endpoint would start a real timer, which outlives a crashed invocation.
      const timed = name in operations ? {} : { getRemainingTimeInMillis }
      return callWorker(name, number, event, { functionName: name, ...timed } as never)
    })
    writers.delete(record)
    events.delete(own)
    trace.log(`${name} ends: ${result.kind}`)
    Object.assign(record, { endedAt: clock.now(), isFinished: isFinished(result) })
    return result
  }
}

type Message = { body?: string; attributes?: { ApproximateReceiveCount: string } }

const isRepeated = ({ body, attributes }: Message): boolean =>
  Number(attributes?.ApproximateReceiveCount) > 1 || body?.includes('"resubmission":true') === true

const referenceIn = ({ body }: Message): string =>
  String((JSON.parse(body ?? '{}') as { reference?: string }).reference)

/** Returns the debits of repeated messages. A message that comes with a new one about its debit counts as new. */
const repeatedIn = (event: unknown): string => {
  const { Records = [] } = event as { Records?: readonly Message[] }
  const added = new Set(Records.filter((one) => !isRepeated(one)).map(referenceIn))
  const repeated = Records.filter(isRepeated).map(referenceIn)
  return repeated.filter((reference) => !added.has(reference)).join(' ')
}

const isFinished = (result: InvocationResult<unknown>): boolean => {
  if (result.kind !== 'done') return false
  const { batchItemFailures = [] } = (result.value ?? {}) as { batchItemFailures?: unknown[] }
  return batchItemFailures.length === 0
}

const streaming = new Set<string>(
  functionRows.flatMap(({ name, permissions }) =>
    bucketAccesses(permissions).length + (permissions.audit ?? []).length > 0 ? [name] : [],
  ),
)

/**
 * Waits until all pending promises have settled. The stream of a report needs a turn of the event loop,
 * which takes longer than all other work of a step.
 */
const idle = (reports: number): Promise<void> =>
  new Promise((resolve) => void (reports > 0 ? setImmediate : process.nextTick)(resolve))

/** @param writers the invocations that may stream a report now */
const runUntil = async (endAt: number, clock: SteppedClock, writers: ReadonlySet<unknown>) => {
  let steps = 0
  await idle(writers.size)
  while (clock.step(endAt)) {
    steps += 1
    if (steps > STEPS_MAX) throw new Error('The run never becomes idle')
    await idle(writers.size)
  }
  return steps
}
