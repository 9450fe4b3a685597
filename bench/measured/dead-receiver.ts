import { setTimeout as pause } from 'node:timers/promises'
import type { Context, SQSEvent } from 'aws-lambda'
import { type JobName, jobRow } from '../../infra/definitions/jobs.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type FairQueue, openFairQueue } from '../fair-queue.ts'
import { beside } from '../figures.ts'
import { openGround, operate, setEnvironment } from '../ground.ts'
import { type OneDay, referenceIn, seed } from '../one-day.ts'
import type { Measure } from '../part.ts'
import { openReceivers, type Receivers } from '../receivers.ts'
import { percentile } from '../samples.ts'

/**
 * Fifty receivers, each of which answers within a tenth of a second, and how long the others wait when
 * one of them no longer answers at all: by the functions that deliver, on fair queues, with as many
 * workers as are deployed. The dead one is owed a fifth of all events.
 */

const RECEIVERS = 50
const ANSWER_MS = 100
const EVENTS_PER_SECOND = 30
/** Every so many events, one is for the first of them. */
const FIRST_EVERY = 5
const SECONDS = 8
const COMPLETED = 3

const BEGINS = new Date('2026-11-21T00:00:00.000Z')

setEnvironment()
process.env.QUEUE_URL_WEBHOOKS_SIDELINED = 'https://sqs.eu-west-1.amazonaws.com/0/sidelined'
const { deliverWebhook } = await import('../../functions/jobs/deliver-webhook.ts')
const { deliverSidelinedWebhook } = await import(
  '../../functions/jobs/deliver-sidelined-webhook.ts'
)
const { sqs } = await import('../../shared/queues/send.ts')
const { eventId } = await import('../../shared/domain/webhooks/event.ts')
const { real } = await import('../../shared/runtime.ts')

type Deliver = (event: SQSEvent, context: Context) => Promise<unknown>

const queueFor = (job: JobName, deliver: Deliver): FairQueue => {
  const { from } = jobRow(job)
  const concurrency = 'maxConcurrency' in from ? from.maxConcurrency : 0
  return openFairQueue(concurrency, (body) =>
    deliver(
      { Records: [{ messageId: body, body, attributes: {} }] } as unknown as SQSEvent,
      { getRemainingTimeInMillis: () => 135_000 } as Context,
    ),
  )
}

const openQueues = () => {
  const webhooks = queueFor('deliver-webhook', deliverWebhook(real))
  const sidelined = queueFor('deliver-sidelined-webhook', deliverSidelinedWebhook(real))
  type Sent = { input: { MessageBody: string; MessageGroupId: string } }
  const send = async ({ input }: Sent) =>
    sidelined.send({ group: input.MessageGroupId, body: input.MessageBody })
  Object.assign(sqs, { send })
  return { webhooks, sidelined }
}

/** A provider with a webhook, and debits enough whose completion it is to be told of. */
const openProvider = async (name: string, url: string, count: number): Promise<OneDay> => {
  const day = { provider: name as ProviderId, count, begins: BEGINS }
  await operate({ noun: 'provider', verb: 'create', options: { provider: name, name } })
  await operate({ noun: 'webhook', verb: 'set', options: { provider: name, url } })
  await seed(day)
  return day
}

type Run = { first: OneDay; others: OneDay[]; events: number; told: Map<OneDay, number> }

/** The events of one run, evenly in time. @returns when each of the others' was asked for */
const ask = async ({ first, others, events, told }: Run, queue: FairQueue) => {
  const askedAt = new Map<string, number>()
  const begun = performance.now()
  for (let n = 0; n < events; n += 1) {
    const due = begun + (n * 1_000) / EVENTS_PER_SECOND
    await pause(Math.max(0, due - performance.now()))
    const day = n % FIRST_EVERY === 0 ? first : (others[n % others.length] ?? first)
    const nth = told.get(day) ?? 0
    told.set(day, nth + 1)
    const reference = referenceIn(day, nth)
    if (day !== first) askedAt.set(eventId({ reference, n: COMPLETED }), Date.now())
    const message = { reference, n: COMPLETED, attempt: 1 }
    queue.send({ group: day.provider, body: JSON.stringify(message) })
  }
  return askedAt
}

/** @returns how long each of the others' events took, in milliseconds */
const latencies = async (run: Run, receivers: Receivers, dead?: number): Promise<number[]> => {
  const { webhooks, sidelined } = openQueues()
  if (dead !== undefined) receivers.kill(dead)
  const askedAt = await ask(run, webhooks)
  await pause(ANSWER_MS * 10)
  if (dead !== undefined) receivers.drop(dead)
  await webhooks.drained()
  await sidelined.drained()
  const received = await receivers.received()
  return [...askedAt].map(([id, at]) => {
    const arrived = received.get(id)
    if (arrived === undefined) throw new Error(`Event ${id} of a live receiver never arrived`)
    return arrived - at
  })
}

export const measure: Measure = async ({ rounds, short }) => {
  const events = EVENTS_PER_SECOND * (short ? SECONDS / 2 : SECONDS)
  const ground = await openGround()
  const receivers = await openReceivers({ count: RECEIVERS + rounds, takes: ANSWER_MS })
  try {
    const urlOf = (n: number) => receivers.urls[n] ?? ''
    const days: OneDay[] = []
    for (const n of Array(RECEIVERS).keys()) {
      const share = n === 0 ? events : (2 * events) / RECEIVERS
      days.push(await openProvider(`alive-${n}`, urlOf(n), Math.ceil(share + 1) * (rounds + 1)))
    }
    const [first, ...others] = days
    if (!first) throw new Error('There are no receivers')
    const told = new Map<OneDay, number>()
    const alive: number[][] = []
    const besideDead: number[][] = []
    await latencies({ first, others, events: events / 2, told }, receivers)
    for (let round = 0; round < rounds; round += 1) {
      const dead = RECEIVERS + round
      const doomed = await openProvider(`dead-${round}`, urlOf(dead), events)
      alive.push(await latencies({ first, others, events, told }, receivers))
      besideDead.push(await latencies({ first: doomed, others, events, told }, receivers, dead))
    }
    return {
      figures: {
        'dead receiver p50': beside(besideDead, alive, (some) => percentile(some, 0.5)),
        'dead receiver p99': beside(besideDead, alive, (some) => percentile(some, 0.99)),
      },
    }
  } finally {
    await receivers.close()
    await ground.stop()
  }
}
