import { jobs } from '../../infra/definitions/jobs.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import type { Clock } from '../engine/clock.ts'
import type { Effects } from '../engine/effects.ts'
import type { Faults } from '../engine/faults.ts'
import type { Random } from '../engine/random.ts'
import type { Run } from '../engine/warm-functions.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { newTable } from '../table/table.ts'
import { reportCalls } from './bucket-calls.ts'
import { queueFeed, streamFeed } from './lambda.ts'
import { queueCalls } from './queue-calls.ts'
import { newQueues, type Queues } from './queues.ts'
import { newScheduler } from './scheduler.ts'
import type { Command } from './sdk.ts'
import { newSweepSchedule } from './sweep-schedule.ts'
import { tableCalls } from './table-calls.ts'

/** An in-memory AWS: the services that functions call and the triggers that invoke them. */

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

const TABLE = 'simulated'

type Deps = {
  clock: Clock
  random: Random
  faults: Faults
  effects: Effects
  scenario: Scenario
  run: Run
}

const streamed: readonly string[] = jobs.relay.from.stream

const isStreamed = (entity: string | undefined): boolean =>
  entity !== undefined && streamed.includes(entity)

const outages = ({ clock, random, faults, scenario }: Deps) => ({
  of: (name: 'table outage' | 'queue outage') => {
    const from = random.pick(scenario.scripts).at + random.between(-MINUTE_MS, 5 * MINUTE_MS)
    const to = from + random.between(MINUTE_MS, 10 * MINUTE_MS)
    return (): boolean => {
      if (clock.now() < from || clock.now() >= to || !faults.has(name)) return false
      faults.hit(name)
      return true
    }
  },
})

/** The table; feeds its changes to the stream and to the sweep's schedule. */
const tableOf = (deps: Deps, queues: { fire: () => void }) => {
  const { clock, random, faults, effects, run } = deps
  const table = newTable({
    definition: tableDefinition,
    name: TABLE,
    now: clock.now,
    indexLag: () => (faults.strikes('index late') ? random.between(0, MINUTE_MS) : 0),
    by: () => {
      const worker = effects.writer()
      return worker && { name: worker.name, invocation: worker.number }
    },
  })
  const stream = streamFeed({ run, clock, random, faults })
  const sweeps = newSweepSchedule({
    clock,
    fire: queues.fire,
    skipTo: (until) => {
      const Item = {
        pk: 'SWEEP',
        sk: 'SWEEP',
        entity: 'sweep',
        until: new Date(until).toISOString(),
      }
      change('PutCommand', { TableName: TABLE, Item })
    },
  })
  let followed = 0
  const change = (name: string, input: object): Record<string, unknown> => {
    try {
      return table.run(name, input)
    } finally {
      for (const written of table.changes.slice(followed)) {
        followed += 1
        sweeps.follow(written)
        if (written.after && isStreamed(written.after.entity)) {
          stream.take(table.streamRecord(written), written.after.pk)
        }
      }
    }
  }
  return { change, items: table.items, changes: table.changes }
}

export type Aws = ReturnType<typeof newAws>

export const newAws = (deps: Deps) => {
  const { clock, random, faults, effects, scenario, run } = deps
  const queues: Queues = newQueues({
    clock,
    random,
    faults,
    onVisible: (message) => feed.offer(message),
  })
  const feed = queueFeed({ run, queues: () => queues, random })
  const scheduler = newScheduler({ clock, random, faults, effects, queues })
  const { change, items, changes } = tableOf(deps, { fire: () => scheduler.fireCron('sweeps') })
  const outage = outages(deps)
  const toTable = tableCalls({
    run: change,
    effects,
    faults,
    random,
    clock,
    isOut: outage.of('table outage'),
  })
  const calls = [
    queueCalls({ queues, effects, faults, random, isOut: outage.of('queue outage') }),
    scheduler.call,
    reportCalls({ effects, faults }),
  ]
  for (
    let day = Math.floor(scenario.startAt / DAY_MS) + 1;
    day * DAY_MS < scenario.endAt;
    day += 1
  ) {
    let isMissed = false
    clock.at(day * DAY_MS, () => {
      isMissed = faults.strikes('night missed')
    })
    for (const minutes of [0, 20, 60]) {
      clock.at(day * DAY_MS + minutes * MINUTE_MS, () => {
        if (!isMissed) scheduler.fireCron('settlement-runs')
      })
    }
  }
  return {
    answer: (command: Command): Promise<unknown> => {
      for (const call of calls) {
        const answer = call(command)
        if (answer) return answer
      }
      return toTable(command)
    },
    items,
    changes,
  }
}
