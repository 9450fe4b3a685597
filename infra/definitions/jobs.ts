import type { QueueName } from '../../shared/queues/messages.ts'

/**
 * Every function that no one calls over HTTP, as one row: what feeds it and how long it may take.
 * The stacks and the sandbox are both built from here.
 */

type Feed =
  /** Changes of items of these entities, from the table's stream. */
  | { stream: readonly string[]; batchSize: number }
  | { queues: readonly QueueName[]; batchSize: number; maxConcurrency: number }

export type Job = {
  from: Feed
  timeoutSeconds: number
  /** Schedules of its own put a message into its queue, again and again. */
  every?: readonly (`rate(${string})` | `cron(${string})`)[]
}

export const jobs = {
  relay: {
    from: {
      stream: ['debit', 'delivery', 'recovery', 'batch', 'build', 'exception', 'refund'],
      batchSize: 100,
    },
    timeoutSeconds: 60,
  },
  'submit-to-bank': {
    from: { queues: ['submissions'], batchSize: 5, maxConcurrency: 20 },
    timeoutSeconds: 60,
  },
  'report-sandbox-outcome': {
    from: { queues: ['sandbox-outcomes'], batchSize: 10, maxConcurrency: 5 },
    timeoutSeconds: 10,
  },
  // Bounded, because Scheduler takes 250 new schedules a second in most Regions.
  'schedule-timeout': {
    from: { queues: ['timeouts'], batchSize: 10, maxConcurrency: 5 },
    timeoutSeconds: 20,
  },
  'expire-debit': {
    from: { queues: ['expiries'], batchSize: 10, maxConcurrency: 10 },
    timeoutSeconds: 20,
  },
  // One message at a time: ten slow receivers in one batch would pass any timeout. Two first
  // attempts may go in one message, at up to 60 s each.
  'deliver-webhook': {
    from: {
      queues: ['webhooks-high', 'webhooks-medium', 'webhooks-low'],
      batchSize: 1,
      maxConcurrency: 50,
    },
    timeoutSeconds: 135,
  },
  'deliver-sidelined-webhook': {
    from: { queues: ['webhooks-sidelined'], batchSize: 1, maxConcurrency: 20 },
    timeoutSeconds: 135,
  },
  'recover-deliveries': {
    from: { queues: ['recoveries'], batchSize: 1, maxConcurrency: 5 },
    timeoutSeconds: 30,
  },
  // At midnight, and again for what was not to be seen then, or when the first run did not come.
  'open-settlement': {
    from: { queues: ['settlement-runs'], batchSize: 1, maxConcurrency: 2 },
    timeoutSeconds: 60,
    every: ['cron(0 0 * * ? *)', 'cron(20 0 * * ? *)', 'cron(0 1 * * ? *)'],
  },
  'build-batch': {
    from: { queues: ['settlements'], batchSize: 1, maxConcurrency: 20 },
    timeoutSeconds: 900,
  },
  'process-batch': {
    from: { queues: ['payments'], batchSize: 1, maxConcurrency: 5 },
    timeoutSeconds: 60,
  },
  'refund-customer': {
    from: { queues: ['refunds'], batchSize: 1, maxConcurrency: 5 },
    timeoutSeconds: 60,
  },
  // When the runs of the night are done.
  'reconcile-day': {
    from: { queues: ['reconciliations'], batchSize: 1, maxConcurrency: 2 },
    timeoutSeconds: 900,
    every: ['cron(0 2 * * ? *)'],
  },
  sweep: {
    from: { queues: ['sweeps'], batchSize: 1, maxConcurrency: 2 },
    timeoutSeconds: 55,
    every: ['rate(1 minute)'],
  },
} as const satisfies Record<string, Job>

export type JobName = keyof typeof jobs
export const jobNames = Object.keys(jobs) as JobName[]
export const jobRow = (name: JobName): Job => jobs[name]

/** Jobs that a schedule of their own sets off, and by which queue. */
export const recurring = jobNames.flatMap((name) => {
  const { from, every = [] } = jobRow(name)
  const [queue] = 'queues' in from ? from.queues : []
  if (!queue) return []
  return every.map((expression, n) => ({ name: `${name}-${n + 1}`, queue, expression }))
})
