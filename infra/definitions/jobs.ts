import {
  checkTransition,
  isOpen,
  type Status,
  statuses,
} from '../../shared/domain/debits/lifecycle.ts'
import { deadLetters, type QueueName } from '../../shared/queues/messages.ts'
import type { FollowedEntity } from '../../shared/store/keys.ts'

/** Lists the functions that consume the table's stream or a queue. */

/**
 * The values of string attributes that a changed item has, and had before. `any`: it has the attribute.
 * Filters of a stream cannot compare the two items, or numbers.
 */
export type ChangeFilter = {
  next?: Readonly<Record<string, readonly string[] | 'any'>>
  previous?: Readonly<Record<string, readonly string[]>>
}

type QueueSource = {
  queues: readonly QueueName[]
  batchSize: number
  /** Concurrent batches of each queue, for 1,000 debits/s (docs/capacity.md#concurrency). */
  maxConcurrency: number
}

export type JobSource =
  /** Changes of items that one of the filters passes, from the table's stream; Lambda allows five. */
  { stream: readonly ChangeFilter[]; batchSize: number } | QueueSource

export type Job = {
  from: JobSource
  timeoutSeconds: number
  /** Recurring schedules that send a message to the job's queue. */
  every?: readonly (`rate(${string})` | `cron(${string})`)[]
}

const canFollow = (to: Status) => (from: Status) => checkTransition(from, to) === 'allowed'

const open = statuses.filter(isOpen)
/** The statuses in which nearly all debits rest. */
const outcomes = statuses.filter((to) => !isOpen(to) && open.some(canFollow(to)))

/** Changes that lead to messages or metrics. A settlement mark, for example, is no change of status. */
const changes: Record<FollowedEntity, 'all' | readonly ChangeFilter[]> = {
  debit: [
    { next: { status: statuses.filter((status) => !outcomes.includes(status)) } },
    { next: { status: outcomes }, previous: { status: open } },
  ],
  delivery: [{ next: { nextAttemptAt: 'any' } }],
  recovery: 'all',
  batch: 'all',
  build: 'all',
  exception: 'all',
  refund: 'all',
  reconciliation: 'all',
  'reconciliation-part': 'all',
}

const followed: readonly ChangeFilter[] = [
  ...Object.entries(changes).flatMap(([entity, filters]) =>
    filters === 'all'
      ? []
      : filters.map(({ next, ...filter }) => ({ ...filter, next: { entity: [entity], ...next } })),
  ),
  {
    next: {
      entity: Object.entries(changes).flatMap(([entity, all]) => (all === 'all' ? [entity] : [])),
    },
  },
  // Updates and removals; a record of a change has neither.
  { previous: { entity: ['change'] } },
]

type Consumer = Pick<Job, 'timeoutSeconds' | 'every'> & Pick<QueueSource, 'maxConcurrency'>

/** Returns a function that builds a job, which consumes one queue or several in batches of a size. */
const batchesOf =
  (batchSize: number) =>
  <Q extends QueueName, Row extends Consumer>(
    queues: Q | readonly Q[],
    { maxConcurrency, ...row }: Row,
  ) => ({ from: { queues: [queues].flat() as Q[], batchSize, maxConcurrency }, ...row })

const inTens = batchesOf(10)
const oneByOne = batchesOf(1)

export const jobs = {
  relay: { from: { stream: followed, batchSize: 100 }, timeoutSeconds: 60 },
  'append-feed': inTens('feeds.fifo', { maxConcurrency: 20, timeoutSeconds: 30 }),
  'submit-to-bank': inTens('submissions', { maxConcurrency: 200, timeoutSeconds: 30 }),
  // A query and a submission may take 20 s each.
  'submit-sidelined': inTens('submissions-sidelined', { maxConcurrency: 50, timeoutSeconds: 60 }),
  'report-sandbox-outcome': inTens('sandbox-outcomes', { maxConcurrency: 5, timeoutSeconds: 10 }),
  'schedule-timeout': inTens('timeouts', { maxConcurrency: 5, timeoutSeconds: 20 }),
  'expire-debit': inTens('expiries', { maxConcurrency: 40, timeoutSeconds: 20 }),
  // The messages of a batch run concurrently. One message may hold two first attempts of up to 60 s
  // each.
  'deliver-webhook': inTens(['webhooks-high', 'webhooks-medium', 'webhooks-low'], {
    maxConcurrency: 50,
    timeoutSeconds: 135,
  }),
  'deliver-sidelined-webhook': inTens('webhooks-sidelined', {
    maxConcurrency: 20,
    timeoutSeconds: 135,
  }),
  'recover-deliveries': oneByOne('recoveries', { maxConcurrency: 5, timeoutSeconds: 30 }),
  // Repeated for debits that the index lists late, and in case a run is lost.
  'open-settlement': oneByOne('settlement-runs', {
    maxConcurrency: 2,
    timeoutSeconds: 60,
    every: ['cron(0 0 * * ? *)', 'cron(20 0 * * ? *)', 'cron(0 1 * * ? *)'],
  }),
  'build-batch': oneByOne('settlements', { maxConcurrency: 20, timeoutSeconds: 900 }),
  'process-batch': oneByOne('payments', { maxConcurrency: 5, timeoutSeconds: 60 }),
  'refund-customer': oneByOne('refunds', { maxConcurrency: 5, timeoutSeconds: 60 }),
  // After the settlement runs.
  'reconcile-day': oneByOne('reconciliations', {
    maxConcurrency: 2,
    timeoutSeconds: 900,
    every: ['cron(0 2 * * ? *)'],
  }),
  'reconcile-part': oneByOne('reconciliation-parts', { maxConcurrency: 20, timeoutSeconds: 900 }),
  sweep: oneByOne('sweeps', { maxConcurrency: 2, timeoutSeconds: 55, every: ['rate(1 minute)'] }),
} as const satisfies Record<string, Job>

export type JobName = keyof typeof jobs
export const jobNames = Object.keys(jobs) as JobName[]
export const jobRow = (name: JobName): Job => jobs[name]

type RecurringQueueOf<Row> = Row extends { every: unknown; from: { queues: readonly (infer Q)[] } }
  ? Q
  : never
/** The queues whose messages come from recurring schedules. */
export type RecurringQueue = RecurringQueueOf<(typeof jobs)[JobName]>

export type StageWorkers = {
  /** Concurrent batches of each queue of a job, instead of the default. */
  workers?: Partial<Record<JobName, number>>
  /** Upper limit of every queue's concurrency. */
  workersMax?: number
}

/** Returns the concurrent batches of each queue of a job. */
export const concurrencyOf = (name: JobName, { workers, workersMax }: StageWorkers): number => {
  const { from } = jobRow(name)
  const usual = 'maxConcurrency' in from ? from.maxConcurrency : 0
  return Math.min(workers?.[name] ?? usual, workersMax ?? Number.POSITIVE_INFINITY)
}

export type StageBanks = { hasSandboxBank: boolean }

/** A stage without a sandbox bank lacks one job. */
export const isInStage = ({ hasSandboxBank }: StageBanks, name: string): boolean =>
  hasSandboxBank || name !== 'report-sandbox-outcome'

export const jobsOf = (stage: StageBanks) => jobNames.filter((name) => isInStage(stage, name))

export const recurring = jobNames.flatMap((name) => {
  const { from, every = [] } = jobRow(name)
  const [queue] = 'queues' in from ? from.queues : []
  if (!queue) return []
  return every.map((expression, index) => ({ name: `${name}-${index + 1}`, queue, expression }))
})

/** Settings of a queue, derived from the job that consumes it. */
export type QueueRow = {
  name: QueueName
  /** The longest work on a message. */
  workSeconds: number
  /** Six times the consumer's timeout, so that an in-flight message stays invisible. */
  visibilitySeconds: number
  retentionSeconds: number
  deadLetterRetentionSeconds: number
  maxReceiveCount: number
}

const DAY_SECONDS = 86_400

const queuesOfJob = (job: JobName): QueueRow[] => {
  const { from, timeoutSeconds, every } = jobRow(job)
  if (!('queues' in from)) return []
  const isEachMinute = every?.includes('rate(1 minute)')
  return from.queues.map((name) => ({
    name,
    workSeconds: timeoutSeconds,
    visibilitySeconds: 6 * timeoutSeconds,
    // A message that is sent each minute is stale after two.
    retentionSeconds: isEachMinute ? 120 : 4 * DAY_SECONDS,
    // A dead letter keeps its first send time, so this must exceed the queue's own retention.
    deadLetterRetentionSeconds: 14 * DAY_SECONDS,
    // About eight minutes of retries, so that a short outage leaves no dead letters.
    maxReceiveCount: isEachMinute ? 3 : 12,
  }))
}

export const queueRows = jobNames.flatMap(queuesOfJob)
export const queuesOf = (stage: StageBanks) => jobsOf(stage).flatMap(queuesOfJob)

/** Returns the name of the on-failure queue of a job that reads the stream. */
export const lostRecords = (job: string): string => `${job}-lost-records`

/** Returns the names of the on-failure queues of a stage. */
export const lostRecordsQueues = (stage: StageBanks): string[] =>
  jobsOf(stage)
    .filter((name) => 'stream' in jobRow(name).from)
    .map(lostRecords)

/** Returns the names of all queues of a stage whose messages need an operator. */
export const deadLetterQueues = (stage: StageBanks): string[] => [
  ...queuesOf(stage).map(({ name }) => deadLetters(name)),
  ...lostRecordsQueues(stage),
]
