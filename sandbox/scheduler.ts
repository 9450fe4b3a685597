import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Cron } from 'croner'
import { type LocalServer, startLocalServer } from './local-server.ts'

/**
 * Serves EventBridge Scheduler's REST API and fires schedules with a queue as target, which the
 * emulators do not. Supports `at(...)`, `rate(...)` and `cron(...)`.
 */
export type Scheduler = LocalServer & {
  /** Creates a schedule as a deployment does. */
  create: (name: string, schedule: ScheduleInput) => void
  pending: () => string[]
}

type ScheduleInput = {
  ScheduleExpression?: string
  GroupName?: string
  Target?: { Arn: string; Input: string }
}

type ScheduleTimer = { stop: () => void }

const AT = /^at\((\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\)$/
/** Minutes, hours, day of the month, month, day of the week; the year must be `*`. */
const CRON = /^cron\(((?:\S+ ){4}\S+) \*\)$/
const RATE = /^rate\(([1-9]\d*) minutes?\)$/

type SchedulerReply = { status: number; body: object; error?: string }

const refuse = (status: number, error: string, Message: string): SchedulerReply => ({
  status,
  body: { Message },
  error,
})

export const startScheduler = async (
  deliver: (queueArn: string, body: string) => Promise<void>,
): Promise<Scheduler> => {
  const timers = new Map<string, ScheduleTimer>()

  const create = (name: string, schedule: ScheduleInput): SchedulerReply => {
    const target = schedule.Target
    if (!target) return refuse(400, 'ValidationException', 'Only targets with an ARN')
    if (timers.has(name)) return refuse(409, 'ConflictException', `Schedule ${name} exists`)
    // A lost message is tolerated, as on AWS: the sweep expires the debit.
    const fire = () => deliver(target.Arn, target.Input).catch(() => undefined)
    const timer = timerFor(schedule.ScheduleExpression ?? '', fire, () => timers.delete(name))
    if (!timer)
      return refuse(400, 'ValidationException', 'Only at(...), rate(...) and cron(...) schedules')
    timers.set(name, timer)
    return { status: 200, body: { ScheduleArn: `arn:aws:scheduler:::schedule/${name}` } }
  }

  const handle = async (request: IncomingMessage): Promise<SchedulerReply> => {
    const name = /^\/schedules\/([0-9A-Za-z_.-]{1,64})(?:\?|$)/.exec(request.url ?? '')?.[1]
    if (!name) return refuse(404, 'ResourceNotFoundException', 'No such resource')
    if (request.method === 'POST') return create(name, JSON.parse(await text(request)))
    const timer = timers.get(name)
    if (!timer) return refuse(404, 'ResourceNotFoundException', `Schedule ${name} not found`)
    if (request.method !== 'DELETE') return { status: 200, body: { Name: name } }
    timer.stop()
    timers.delete(name)
    return { status: 200, body: {} }
  }

  const server = await startLocalServer((request, response) => {
    handle(request).then(
      (reply) => write(response, reply),
      () => write(response, refuse(400, 'ValidationException', 'Not a schedule')),
    )
  })
  return {
    endpoint: server.endpoint,
    create,
    pending: () => [...timers.keys()],
    stop: async () => {
      for (const timer of timers.values()) timer.stop()
      await server.stop()
    },
  }
}

/** @param remove deletes a schedule that has fired, as ActionAfterCompletion DELETE does */
const timerFor = (
  expression: string,
  fire: () => void,
  remove: () => void,
): ScheduleTimer | undefined => {
  const at = AT.exec(expression)?.[1]
  if (at) {
    const fireOnce = () => {
      remove()
      fire()
    }
    const timer = setTimeout(fireOnce, Math.max(0, new Date(`${at}Z`).getTime() - Date.now()))
    return { stop: () => clearTimeout(timer) }
  }
  const minutes = RATE.exec(expression)?.[1]
  if (minutes) {
    const timer = setInterval(fire, Number(minutes) * 60_000)
    return { stop: () => clearInterval(timer) }
  }
  const cron = CRON.exec(expression)?.[1]
  return cron ? new Cron(cron.replaceAll('?', '*'), { timezone: 'UTC' }, fire) : undefined
}

const write = (response: ServerResponse, { status, body, error }: SchedulerReply): void => {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...(error ? { 'x-amzn-errortype': error } : {}),
    })
    .end(JSON.stringify(body))
}
