import { randomUUID } from 'node:crypto'
import type { Context, DynamoDBRecord } from 'aws-lambda'
import { actingAs } from '../../../sandbox/authorizer.ts'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import type { QueueName } from '../../../shared/queues/messages.ts'
import type { Runtime } from '../../../shared/runtime.ts'
import { SWEEP_GRACE_SECONDS } from '../../../shared/store/work-index.ts'
import { webhookSecret } from '../../../shared/webhooks/http/signature.ts'
import { draws } from '../../../simulation/engine/random.ts'
import { demoProvider, NOON } from '../examples.ts'
import { callersOf } from './callers.ts'
import { streamFeed, visible, work } from './feed.ts'
import { type FunctionName, functionsOf, type Run } from './functions.ts'
import { plant } from './plant.ts'
import { newQueues, type Queued } from './queues.ts'
import { openReceiver } from './receiver.ts'
import { type Item, openTable } from './table.ts'
import { newWorkers } from './workers.ts'

/**
 * The service as a world that can be stopped: the real functions on DynamoDB Local and its real
 * stream, with queues and timers in memory, a clock that goes only where it is sent, and a
 * receiver on this machine. One thing happens after the other, so a run can be repeated with one
 * more thing going wrong.
 */

export type Luck = {
  /** Of all draws. */
  seed?: number
  /** How often what was sent arrives; once, unless a test says otherwise. */
  copies?: (sent: Sent) => number
  /** Whether the order of messages and stream records is a matter of chance. */
  shuffled?: boolean
}

export type Sent =
  | { queue: QueueName; body: string }
  | { schedule: string }
  | { records: readonly DynamoDBRecord[] }

export type WebhookSettings = Partial<Pick<Webhook, 'attemptsMax' | 'events'>>

export type World = Awaited<ReturnType<typeof openWorld>>

Object.assign(process.env, { CACHE_SECONDS: '0', LOCAL_PEERS: 'true', SEALING_KEY: 'test' })

export const openWorld = async (
  settings: WebhookSettings = {},
  { seed = 1, copies = () => 1, shuffled = false }: Luck = {},
) => {
  const clock = { now: NOON.getTime() }
  const now = (): number => clock.now
  const runtime = runtimeOf(clock, seed)
  const workers = newWorkers()
  const table = await openTable(workers)
  const queues = newQueues({ workers, now, copies })
  const receiver = await openReceiver(workers, now)
  const secret = webhookSecret(Buffer.alloc(32, 1))
  const webhook: Webhook = { url: receiver.url, secret, ...PATIENCE, ...settings }
  await plant(webhook)

  const functions = functionsOf(runtime)
  /** @returns what it replied; undefined: its worker died */
  const run = <R>(name: FunctionName, event: unknown): Promise<R | undefined> => {
    const invoke: Run = functions[name]
    return workers.run(() => actingAs(name, () => invoke(event, {} as Context)))
  }
  const chance = shuffled ? runtime.random : undefined
  const readStream = async () => {
    const records = await table.readStream()
    const count = records.length > 0 ? copies({ records }) : 0
    return Array.from({ length: count }, () => records).flat()
  }
  const relay = streamFeed({ run, readStream, chance })
  const turns = {
    relay,
    work: (taken: readonly Queued[]) => work(run, queues, taken),
    visible: () => visible(queues, clock.now, chance),
    chance,
  }
  return {
    provider: demoProvider.id,
    webhook,
    receiver,
    queues,
    workers,
    now: runtime.now,
    run,
    items: table.items,
    /** Takes what was written so far out of the stream, as if it were long past. */
    forget: table.readStream,
    work: turns.work,
    ...passing({ clock, queues, items: table.items, settle: () => settle(turns) }),
    ...callersOf({ run, runtime }),
    close: receiver.close,
  }
}

const PATIENCE = { timeoutSeconds: 30, connectionTimeoutSeconds: 10 }

type Clock = { now: number }

/** A pause that has a signal is a patience that never runs out: nothing here is slow. */
const pause: Runtime['pause'] = (_, signal) =>
  signal
    ? new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    : Promise.resolve()

const runtimeOf = (clock: Clock, seed: number): Runtime => {
  // DynamoDB Local knows the token of a transaction again, whatever the table: no id comes twice.
  const origin = randomUUID().slice(0, 8)
  let ids = 0
  const random = draws(seed)
  const bytes = draws(seed + 1)
  return {
    now: () => new Date(clock.now),
    newId: () => {
      ids += 1
      return `${origin}-0000-4000-8000-${String(ids).padStart(12, '0')}`
    },
    random,
    randomBytes: (count) => Buffer.from(Array.from({ length: count }, () => bytes() * 256)),
    pause,
  }
}

type Turns = {
  relay: () => Promise<boolean>
  work: (taken: readonly Queued[]) => Promise<void>
  visible: () => Queued[]
  chance: (() => number) | undefined
}

const TURNS_MAX = 5_000

/** All that can happen without the clock going on; the stream first, or by chance. */
const settle = async ({ relay, work, visible, chance }: Turns): Promise<void> => {
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const taken = visible()
    const isQueueFirst = taken.length > 0 && chance !== undefined && chance() < 0.5
    if (!isQueueFirst && (await relay())) continue
    if (taken.length === 0) return
    await work(taken)
  }
  throw new Error('The world never comes to rest')
}

type Passing = {
  clock: Clock
  queues: ReturnType<typeof newQueues>
  items: () => Promise<Item[]>
  settle: () => Promise<void>
}

const MINUTE_MS = 60_000

const passing = ({ clock, queues, items, settle }: Passing) => {
  /** Moves the clock to what comes next. @returns false when nothing does, up to that time */
  const waitForNext = async (until = Number.POSITIVE_INFINITY): Promise<boolean> => {
    const due = nextLook(await items())
    // The next sweep that can find anything: those before it are passed over.
    const sweepAt = Math.ceil(Math.max(due, clock.now + 1) / MINUTE_MS) * MINUTE_MS
    const messages = queues.queued.map(({ visibleAt }) => visibleAt)
    const next = Math.min(sweepAt, ...messages, ...queues.schedules.map(({ at }) => at))
    if (next === Number.POSITIVE_INFINITY || next > until) return false
    clock.now = Math.max(clock.now, next)
    queues.ring()
    if (clock.now === sweepAt) queues.put('sweeps', '{}')
    return true
  }
  return {
    settle,
    /** Until nothing is left to do, or what was waited for is there. */
    rest: async (isThere: () => Promise<boolean> = async () => false): Promise<void> => {
      do await settle()
      while (!(await isThere()) && (await waitForNext()))
    },
    /** Moves the clock on by some seconds, with all that happens on the way. */
    pass: async (seconds: number): Promise<void> => {
      const end = clock.now + seconds * 1000
      do await settle()
      while (await waitForNext(end))
      clock.now = end
    },
  }
}

/** When somebody must look at something, by what stands in the table. */
const nextLook = (items: readonly Item[]): number => {
  const until = String(items.find(({ pk }) => pk === 'SWEEP')?.until ?? '')
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...items.flatMap(({ work = '', due }) => {
      const at = Date.parse(String(due))
      if (String(work).startsWith('WATCH#')) return [at]
      const isUnseen = String(work).startsWith('SETTLE#') && String(due) > until
      return isUnseen ? [at + SWEEP_GRACE_SECONDS * 1000] : []
    }),
  )
}
