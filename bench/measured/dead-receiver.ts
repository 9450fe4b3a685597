import { setTimeout as pause } from 'node:timers/promises'
import type { Context, SQSEvent } from 'aws-lambda'
import { type JobName, jobRow } from '../../infra/definitions/jobs.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type CompletedDay, referenceIn, seed } from '../completed-day.ts'
import { type FairQueue, openFairQueue } from '../fair-queue.ts'
import { compare, type Figure } from '../figures.ts'
import { onFixture, operate, setEnvironment } from '../fixture.ts'
import { openReceivers, type Receivers } from '../receivers.ts'
import { percentile } from '../samples.ts'

const RECEIVERS = 50
const RESPONSE_MS = 100
const EVENTS_PER_SECOND = 30
/** One event in five is for the first provider, whose receiver is dead in every second run. */
const FIRST_EVERY = 5
const SECONDS = 8
/** The number of a debit's event of completion. */
const COMPLETED = 3

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

/** Opens the queue of a job, with its deployed concurrency. */
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

/** Creates a provider with a webhook and completed debits. */
const createProvider = async (name: string, url: string, count: number): Promise<CompletedDay> => {
  const start = new Date('2026-11-21T00:00:00.000Z')
  const day = { provider: name as ProviderId, count, start }
  await operate({ noun: 'provider', verb: 'create', options: { provider: name, name } })
  await operate({ noun: 'webhook', verb: 'set', options: { provider: name, url } })
  await seed(day)
  return day
}

type Run = { first: CompletedDay; others: CompletedDay[]; events: number }

/** The number of debits of each provider whose events are sent. */
const sent = new Map<CompletedDay, number>()

/** Sends the events at a steady rate. Returns when each event of the others was sent. */
const sendEvents = async ({ first, others, events }: Run, queue: FairQueue) => {
  const sentAt = new Map<string, number>()
  const start = performance.now()
  for (let event = 0; event < events; event += 1) {
    const due = start + (event * 1_000) / EVENTS_PER_SECOND
    await pause(Math.max(0, due - performance.now()))
    const day = event % FIRST_EVERY === 0 ? first : (others[event % others.length] ?? first)
    const index = sent.get(day) ?? 0
    sent.set(day, index + 1)
    const reference = referenceIn(day, index)
    if (day !== first) sentAt.set(eventId({ reference, n: COMPLETED }), Date.now())
    const message = { reference, n: COMPLETED, attempt: 1 }
    queue.send({ group: day.provider, body: JSON.stringify(message) })
  }
  return sentAt
}

/** Returns the milliseconds from queue to receiver of each event of the others. */
const latencies = async (run: Run, receivers: Receivers, dead?: number): Promise<number[]> => {
  const { webhooks, sidelined } = openQueues()
  if (dead !== undefined) receivers.kill(dead)
  const sentAt = await sendEvents(run, webhooks)
  await pause(RESPONSE_MS * 10)
  if (dead !== undefined) receivers.close(dead)
  await webhooks.drained()
  await sidelined.drained()
  const received = await receivers.received()
  return [...sentAt].map(([id, at]) => {
    const receivedAt = received.get(id)
    if (receivedAt === undefined) throw new Error(`Event ${id} of a live receiver never arrived`)
    return receivedAt - at
  })
}

const deadReceiver = onFixture(async ({ rounds, short }) => {
  const events = EVENTS_PER_SECOND * (short ? SECONDS / 2 : SECONDS)
  const receivers = await openReceivers({ count: RECEIVERS + rounds, latency: RESPONSE_MS })
  const urlOf = (index: number) => receivers.urls[index] ?? ''
  const days: CompletedDay[] = []
  for (const index of Array(RECEIVERS).keys()) {
    const perRun = Math.ceil(index === 0 ? events + 1 : (2 * events) / RECEIVERS + 1)
    days.push(await createProvider(`alive-${index}`, urlOf(index), perRun * (rounds + 1)))
  }
  const [first, ...others] = days as [CompletedDay, ...CompletedDay[]]
  const alive: number[][] = []
  const withDead: number[][] = []
  await latencies({ first, others, events: events / 2 }, receivers)
  for (let round = 0; round < rounds; round += 1) {
    const dead = RECEIVERS + round
    const deadDay = await createProvider(`dead-${round}`, urlOf(dead), events)
    alive.push(await latencies({ first, others, events }, receivers))
    withDead.push(await latencies({ first: deadDay, others, events }, receivers, dead))
  }
  await receivers.stop()
  const row = (metric: string, share: number): Figure => ({
    name: `queue to receiver, ${metric} of the 49`,
    unit: 'ms',
    against: 'all fifty alive',
    target: { ratioAtMost: 1.1 },
    ...compare(withDead, alive, (values) => percentile(values, share)),
  })
  return {
    title: 'One dead receiver',
    explanation:
      'The latency of 49 receivers while another, with a fifth of all events, never responds.',
    figures: [row('p50', 0.5), row('p99', 0.99)],
  }
})

export const parts = { 'dead-receiver': deadReceiver }
