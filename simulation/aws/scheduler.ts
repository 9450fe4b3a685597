import { ConflictException } from '@aws-sdk/client-scheduler'
import type { QueueName } from '../../shared/queues/messages.ts'
import type { Clock } from '../engine/clock.ts'
import type { Effects } from '../engine/effects.ts'
import type { Faults } from '../engine/faults.ts'
import type { Random } from '../engine/random.ts'
import { timedOut } from './failures.ts'
import { type Queues, queueIn } from './queues.ts'
import type { Command } from './sdk.ts'

/** EventBridge Scheduler, which fires at least once, up to a minute late. */

type Deps = { clock: Clock; random: Random; faults: Faults; effects: Effects; queues: Queues }

const MINUTE_MS = 60_000

type Schedule = {
  Name: string
  ScheduleExpression: string
  Target: { Arn: string; Input: string }
}

export const newScheduler = ({ clock, random, faults, effects, queues }: Deps) => {
  const names = new Set<string>()

  const create = ({ Name, ScheduleExpression, Target }: Schedule): void => {
    if (names.has(Name)) {
      throw new ConflictException({ $metadata: {}, message: 'exists', Message: 'exists' })
    }
    names.add(Name)
    if (faults.strikes('timer never') || faults.loses('timer')) return
    const at = Date.parse(`${ScheduleExpression.slice('at('.length, -1)}Z`)
    const late = faults.strikes('timer late') ? random.between(0, MINUTE_MS) : 0
    const fire = () => {
      // A completed schedule is deleted, so its name is free again.
      names.delete(Name)
      queues.put(queueIn(Target.Arn), Target.Input)
    }
    clock.at(at + late, fire)
    if (faults.strikes('timer twice')) clock.at(at + random.between(0, 2 * MINUTE_MS), fire)
  }

  return {
    /** Fires one of the service's cron schedules. */
    fireCron: (queue: QueueName): void => {
      if (faults.strikes('run missed')) return
      queues.put(queue, '{}')
      if (faults.strikes('run twice')) queues.put(queue, '{}')
    },
    call: ({ constructor: { name }, input }: Command): Promise<unknown> | undefined => {
      if (name !== 'CreateScheduleCommand') return undefined
      const schedule = input as Schedule
      const outgoing = {
        name: `schedule ${schedule.Name}`,
        changes: true,
        takes: [10, 60],
      } as const
      return effects.call(outgoing, () => {
        if (faults.strikes('scheduler unreachable')) throw timedOut()
        create(schedule)
        if (faults.strikes('schedule result unknown')) throw timedOut()
        return {}
      })
    },
  }
}
