import { ConflictException, ValidationException } from '@aws-sdk/client-scheduler'
import { Cron } from 'croner'
import { type Clock, cancel, type Timer } from './clock.ts'
import type { Conditions } from './conditions.ts'
import type { Journal, Schedule } from './journal.ts'

/** EventBridge Scheduler, with queues as targets: `at(...)`, `rate(...)` and `cron(...)`. */

type Deps = {
  clock: Clock
  firings: Conditions['firings']
  /** Sends a message to the queue of an ARN. */
  deliver: (arn: string, body: string) => void
  journal: Journal
}

export const AT = /^at\((\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\)$/
/** Minutes, hours, day of the month, month, day of the week; the year must be `*`. */
const CRON = /^cron\(((?:\S+ ){4}\S+) \*\)$/
const RATE = /^rate\(([1-9]\d*) minutes?\)$/
const MINUTE_MS = 60_000

/** Returns the next firing of a recurring schedule; undefined for another expression. */
export const recurrence = (expression: string): ((now: number) => number) | undefined => {
  const minutes = RATE.exec(expression)?.[1]
  if (minutes) return (now) => now + Number(minutes) * MINUTE_MS
  const fields = CRON.exec(expression)?.[1]
  if (!fields) return undefined
  const cron = cronOf(fields.replaceAll('?', '*'))
  return cron && ((now) => cron.nextRun(new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY)
}

/** Returns undefined for invalid fields. */
const cronOf = (fields: string): Cron | undefined => {
  try {
    return new Cron(fields, { timezone: 'UTC', paused: true })
  } catch {
    return undefined
  }
}

export const newScheduler = ({ clock, firings, deliver, journal }: Deps) => {
  const timers = new Map<string, readonly Timer[]>()

  const remove = (name: string): void => {
    timers.delete(name)
    journal.write({ unscheduled: name })
  }

  /** Starts a schedule, also after a restart. */
  const start = ({ Name, ScheduleExpression, Target }: Schedule): void => {
    const fire = () => deliver(Target.Arn, Target.Input)
    const instant = AT.exec(ScheduleExpression)?.[1]
    if (instant) {
      const fireOnce = () => {
        // A completed schedule is deleted, so its name is free again.
        remove(Name)
        fire()
      }
      timers.set(
        Name,
        firings(Date.parse(`${instant}Z`), Name).map((at) => clock.at(at, fireOnce)),
      )
      return
    }
    const next = recurrence(ScheduleExpression)
    if (!next) {
      const message = 'Only at(...), rate(...) and cron(...) schedules'
      throw new ValidationException({ $metadata: {}, message, Message: message })
    }
    const repeat = (): void => {
      timers.set(Name, [
        clock.at(next(clock.now()), () => {
          fire()
          repeat()
        }),
      ])
    }
    repeat()
  }

  return {
    start,
    names: (): string[] => [...timers.keys()],
    calls: {
      CreateScheduleCommand: ({ Name, ScheduleExpression, Target }: Schedule) => {
        if (timers.has(Name)) {
          const message = `Schedule ${Name} already exists.`
          throw new ConflictException({ $metadata: {}, message, Message: message })
        }
        const schedule = { Name, ScheduleExpression, Target }
        start(schedule)
        journal.write({ schedule })
        return {}
      },
      DeleteScheduleCommand: ({ Name }: Pick<Schedule, 'Name'>) => {
        for (const timer of timers.get(Name) ?? []) cancel(timer)
        remove(Name)
        return {}
      },
    },
  }
}

export type Scheduler = ReturnType<typeof newScheduler>
