import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Cron } from 'croner'

/**
 * EventBridge Scheduler for schedules with a queue as their target, `at(...)` once, `rate(...)` and
 * `cron(...)` for ever: keeps them, and fires them, which the emulators do not. Speaks the service's REST API,
 * so the functions use their ordinary client.
 */
export type Scheduler = {
  endpoint: string
  /** As a deployment creates its own schedules. */
  create: (name: string, schedule: Schedule) => void
  pending: () => string[]
  stop: () => Promise<void>
}

type Target = { Arn: string; Input: string }
type Schedule = { ScheduleExpression?: string; GroupName?: string; Target?: Target }

type Timer = { stop: () => void }

const AT = /^at\((\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\)$/
/** Minutes, hours, day of the month, month, day of the week; the year that follows is any. */
const CRON = /^cron\(((?:\S+ ){4}\S+) \*\)$/
const RATE = /^rate\(([1-9]\d*) minutes?\)$/

type Answer = { status: number; body: object; error?: string }

const refuse = (status: number, error: string, Message: string): Answer => ({
  status,
  body: { Message },
  error,
})

export const startScheduler = async (
  deliver: (queueArn: string, body: string) => Promise<void>,
): Promise<Scheduler> => {
  const timers = new Map<string, Timer>()

  const create = (name: string, schedule: Schedule): Answer => {
    const target = schedule.Target
    if (!target) return refuse(400, 'ValidationException', 'Only targets with an ARN')
    if (timers.has(name)) return refuse(409, 'ConflictException', `Schedule ${name} exists`)
    // A hint that cannot be handed over is lost here, as it may be on AWS: the sweep finds it.
    const fire = () => deliver(target.Arn, target.Input).catch(() => undefined)
    const timer = timerFor(schedule.ScheduleExpression ?? '', fire, () => timers.delete(name))
    if (!timer)
      return refuse(400, 'ValidationException', 'Only at(...), rate(...) and cron(...) schedules')
    timers.set(name, timer)
    return { status: 200, body: { ScheduleArn: `arn:aws:scheduler:::schedule/${name}` } }
  }

  const answer = async (request: IncomingMessage): Promise<Answer> => {
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

  const server = createServer((request, response) => {
    answer(request).then(
      (result) => write(response, result),
      () => write(response, refuse(400, 'ValidationException', 'Not a schedule')),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    create,
    pending: () => [...timers.keys()],
    stop: async () => {
      for (const timer of timers.values()) timer.stop()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** @param forget makes the name free again: ActionAfterCompletion DELETE */
const timerFor = (expression: string, fire: () => void, forget: () => void): Timer | undefined => {
  const at = AT.exec(expression)?.[1]
  if (at) {
    const once = () => {
      forget()
      fire()
    }
    const timer = setTimeout(once, Math.max(0, new Date(`${at}Z`).getTime() - Date.now()))
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

const write = (response: ServerResponse, { status, body, error }: Answer): void => {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...(error ? { 'x-amzn-errortype': error } : {}),
    })
    .end(JSON.stringify(body))
}
