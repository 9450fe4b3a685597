import { jobNames, type RecurringQueue } from '../../../infra/definitions/jobs.ts'
import { newAws as newServices, type Aws as Services } from '../../../sandbox/aws/aws.ts'
import type { Conditions } from '../../../sandbox/aws/conditions.ts'
import type { Command } from '../../../sandbox/aws/sdk.ts'
import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import type { QueueName } from '../../../shared/queues/messages.ts'
import type { Effects } from '../engine/effects.ts'
import { type Engine, type FaultName, randomOfFault } from '../engine/faults.ts'
import { type Observations, subjectsIn } from '../engine/observations.ts'
import type { Run } from '../engine/warm-functions.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, midnightAfter } from '../invariants/time-and-money.ts'
import type { Stage } from '../scenario/restore.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { bucketCalls, type Calls, queueCalls, schedulerCalls, secretCalls } from './calls.ts'
import { newPeriods, tableOutage } from './lasting.ts'
import { callBy } from './releases.ts'
import { newSweepSchedule } from './sweep-schedule.ts'
import { tableCalls } from './table-calls.ts'

/** The in-memory AWS, with the faults of a scenario. */

const TABLE = 'simulated'

type Deps = Engine & {
  effects: Effects
  scenario: Scenario
  run: Run
  crashAll: () => void
  stage: Stage
  reports: Observations['reports'][number][]
  repairs: Observations['repairs'][number][]
}

/** A small table has one shard, a large one has eight. */
const SHARDS = [1, 1, 1, 1, 1, 2, 2, 8] as const

/** The longest wait of a poll; the messages that arrive meanwhile come in one batch. */
const POLLS_MS = [0, 300, 1_000] as const

const conditionsOf = ({ clock, random, faults, effects, scenario, repairs }: Deps): Conditions => {
  const period = newPeriods({ clock, faults, scenario })
  const lateIndex = period('index far behind')
  const shards = random.pick(SHARDS)
  const poll = random.pick(POLLS_MS)
  const stops = (['hot shard', 'shard blocked'] as const).map((name) => {
    const stop = period(name)
    return { ...stop, shard: stop.random.below(shards) }
  })
  const lateBy = (name: FaultName, about: string, most: number): number =>
    faults.strikes(name, about) ? random.between(0, most) : 0
  return {
    copies: (queue, body) => {
      const about = `message ${queue} ${body}`
      if (effects.writer()?.name === 'sweep') repairs.push({ at: clock.now(), queue, body })
      if (faults.strikes('message lost', about) || faults.loses(queue)) return []
      const delay = lateBy('message late', about, 2 * MINUTE_MS) + random.between(5, 60)
      if (faults.strikes('message days later', about))
        return [delay, delay + random.between(1, 3) * DAY_MS]
      if (!faults.strikes('message twice', about)) return [delay]
      // At once, during the first delivery, or later.
      return [delay, delay + random.pick([0, random.between(0, 1_000), random.between(0, 300_000)])]
    },
    pollDelay: () => (poll === 0 ? 0 : random.between(1, poll)),
    workers: (count) => count,
    pick: random.below,
    firings: (at, name) => {
      const about = `timer ${name}`
      if (faults.strikes('timer never', about) || faults.loses('timer')) return []
      const once = at + lateBy('timer late', about, MINUTE_MS)
      const isTwice = faults.strikes('timer twice', about)
      return isTwice ? [once, at + random.between(0, 2 * MINUTE_MS)] : [once]
    },
    losesRecord: ({ before, after }) =>
      faults.strikes('record lost', `record ${(after ?? before)?.pk}`) || faults.loses('record'),
    shards,
    readDelay: (shard) => {
      const stopped = stops.map((stop) => (stop.shard === shard ? stop.rest('shard') : 0))
      const late = lateBy('record late', 'shard', 2 * MINUTE_MS)
      return Math.max(late, ...stopped) + random.between(20, 800)
    },
    repeatsFrom: (completed) =>
      completed > 0 && faults.strikes('record twice') ? random.below(completed) : completed,
    indexLag: (_, item) => {
      const about = `index ${item}`
      const lag = lateBy('index late', about, MINUTE_MS)
      const rest = lateIndex.rest(about)
      return rest === 0 ? lag : Math.min(rest, lateIndex.random.between(0, 10 * MINUTE_MS))
    },
  }
}

type StreamEvent = { Records: { dynamodb: { SequenceNumber: string; NewImage?: object } }[] }

/** Returns a function that damages records of debits, each only when it first comes. */
const newGarbling = (faults: Engine['faults']) => {
  const seen = new Set<string>()
  return ({ Records }: StreamEvent): StreamEvent => ({
    Records: Records.map((record) => {
      const { SequenceNumber: number, NewImage = {} } = record.dynamodb
      const isFirst = 'history' in NewImage && !seen.has(number)
      seen.add(number)
      if (!isFirst || !faults.strikes('record unreadable', `record ${number}`)) return record
      const image = { ...NewImage, history: { N: '7' } }
      return { ...record, dynamodb: { ...record.dynamodb, NewImage: image } }
    }),
  })
}

/** Reports whether a batch is from the stream of the table before its restore. */
const isLost = ({ Records }: StreamEvent, last: number): boolean =>
  Records.every(({ dynamodb }) => Number(dynamodb.SequenceNumber) <= last)

/** Minutes after midnight. The sweep has a schedule of its own. */
const NIGHTLY: Record<Exclude<RecurringQueue, 'sweeps'>, readonly number[]> = {
  'settlement-runs': [0, 20, 60],
  reconciliations: [120],
}
const nightly = Object.entries(NIGHTLY) as [keyof typeof NIGHTLY, readonly number[]][]

const startNights = ({ clock, faults, scenario }: Deps, fire: (queue: QueueName) => void): void => {
  for (let night = midnightAfter(scenario.startAt); night < scenario.endAt; night += DAY_MS) {
    let isMissed = false
    clock.at(night, () => {
      isMissed = faults.strikes('night missed')
    })
    for (const [queue, times] of nightly)
      for (const minutes of times)
        clock.at(night + minutes * MINUTE_MS, () => {
          if (!isMissed) fire(queue)
        })
  }
}

type Write = { Key: Pick<Item, 'pk' | 'sk'>; Item: Item | undefined }

/** Returns the items that changed after an instant, as they were then. */
const changedAfter = (changes: readonly Change[], at: number): Write[] => {
  const [kept, touched] = [new Map<string, Item | undefined>(), new Map<string, Item>()]
  for (const { at: changedAt, before, after } of changes) {
    const item = after ?? before
    if (!item) continue
    if (changedAt <= at) kept.set(`${item.pk} ${item.sk}`, after)
    else touched.set(`${item.pk} ${item.sk}`, item)
  }
  return Array.from(touched, ([key, Key]) => ({ Key, Item: kept.get(key) }))
}

const EXPIRY_EACH_MS = 6 * HOUR_MS

const startExpiry = ({ clock, faults, scenario }: Deps, remove: (at: number) => void): void => {
  const random = randomOfFault(scenario.seed, 'expired items removed', 1)
  for (let at = scenario.startAt; at < scenario.endAt; at += EXPIRY_EACH_MS) {
    clock.at(at, () => {
      if (faults.strikes('expired items removed')) remove(at - random.between(0, 2 * DAY_MS))
    })
  }
}

export type Aws = ReturnType<typeof newAws>

export const newAws = (deps: Deps) => {
  const { clock, random, faults, effects, scenario, run, crashAll, stage, reports } = deps
  const changes: Change[] = []
  /** The last record of the table before its restore; the stream of the new table is empty. */
  let lostRecords = 0
  let isOverwriting = false
  const conditions = conditionsOf(deps)
  const period = newPeriods(deps)
  const garbled = newGarbling(faults)
  const throttling = period('function throttled')
  const throttled = throttling.random.pick(jobNames)
  const services: Services = newServices({
    clock,
    tableName: TABLE,
    invoke: async (name, event) => {
      await stage.resumed()
      if (name === 'relay' && isLost(event as StreamEvent, lostRecords)) {
        return { kind: 'done', value: {} }
      }
      const isThrottled = name === throttled && throttling.strikes(`${name} ${subjectsIn(event)}`)
      if (isThrottled) return { kind: 'throttled' }
      const given = name === 'relay' ? garbled(event as StreamEvent) : event
      const result = await run(name as Parameters<Run>[0], given)
      return result.kind === 'done' ? result : { kind: 'failed' }
    },
    conditions: {
      ...conditions,
      losesRecord: (one) => isOverwriting || conditions.losesRecord(one),
    },
    by: () => {
      const worker = effects.writer()
      return worker && { name: worker.name, invocation: worker.number }
    },
    onCommit: (committed) => {
      changes.push(...committed)
      committed.forEach(sweeps.follow)
    },
  })
  const fireCron = (queue: QueueName): void => {
    if (faults.strikes('run missed')) return
    services.queues.put(queue, '{}')
    const isSlow = queue === 'sweeps' && faults.has('slow sweep')
    if (isSlow || faults.strikes('run twice')) services.queues.put(queue, '{}')
  }
  const sweeps = newSweepSchedule({ clock, fire: () => fireCron('sweeps') })
  const { perform } = services
  const faulty = { perform, effects, faults, random, clock }
  const toTable = tableCalls({ ...faulty, isOut: tableOutage(period) })
  const calls: Calls = {
    ...queueCalls(faulty, period('queue outage').strikes),
    ...schedulerCalls(faulty),
    ...bucketCalls(faulty, (key, text) => reports.push({ at: clock.now(), key, text })),
    ...secretCalls(faulty, period('key store outage'), period('sealing key missing')),
  }
  startNights(deps, fireCron)
  startExpiry(deps, services.table.removeExpired)
  /** Writes or deletes items without records of the stream. */
  const overwrite = (writes: readonly Write[]): void => {
    isOverwriting = true
    for (const {
      Key: { pk, sk },
      Item,
    } of writes) {
      if (Item) services.table.run('PutCommand', { TableName: TABLE, Item })
      else services.table.run('DeleteCommand', { TableName: TABLE, Key: { pk, sk } })
    }
    isOverwriting = false
  }
  const restoreTable = (at: number): void => {
    // A running invocation, such as an operator's, writes to the table before its restore.
    crashAll()
    overwrite(changedAfter(changes, at))
    lostRecords = changes.length
  }
  return {
    restoreTable,
    overwrite,
    answer: (command: Command): Promise<unknown> =>
      (calls[command.constructor.name] ?? toTable)(callBy(scenario.otherRelease, command)),
    items: services.table.items,
    /** The versions of the sealing key, for operators. */
    secrets: services.secrets,
    changes,
  }
}
