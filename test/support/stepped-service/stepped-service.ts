import { randomBytes, randomUUID } from 'node:crypto'
import type { Context } from 'aws-lambda'
import { reconcileDay } from '../../../functions/jobs/reconcile-day.ts'
import { handler as manageRestore } from '../../../functions/operator/manage-restore.ts'
import { handler as manageSettlement } from '../../../functions/operator/manage-settlement.ts'
import { listEvents } from '../../../functions/provider/list-events.ts'
import type { JobName } from '../../../infra/definitions/jobs.ts'
import { actingAs } from '../../../sandbox/authorizer.ts'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import type { Runtime } from '../../../shared/runtime.ts'
import { putSweepProgress } from '../../../shared/store/sweep-progress.ts'
import { SWEEP_GRACE_SECONDS } from '../../../shared/store/work-index.ts'
import { webhookSecret } from '../../../shared/webhooks/http/signature.ts'
import { functionsOf as simulatedFunctions } from '../../../simulation/engine/functions.ts'
import { demoProvider, NOON, still } from '../examples.ts'
import { storeDemo, storeWebhook } from '../settings.ts'
import { queueFeed, streamFeed } from './lambda.ts'
import { newQueues } from './queues.ts'
import { type Item, openTable } from './table.ts'

/**
 * The functions on DynamoDB Local, with queues and schedules in memory and a clock that only the
 * test moves. One invocation runs at a time.
 */

export type SteppedService = Awaited<ReturnType<typeof openSteppedService>>

Object.assign(process.env, { CACHE_SECONDS: '0', LOCAL_PEERS: '127.0.0.1', SEALING_KEY: 'test' })

const functionsOf = (runtime: Runtime) =>
  ({
    ...simulatedFunctions(runtime),
    'reconcile-day': reconcileDay(runtime),
    'manage-restore': manageRestore,
    'manage-settlement': manageSettlement,
    'list-events': listEvents(runtime),
  }) satisfies Record<JobName, unknown> & Record<string, unknown>

export type FunctionName = keyof ReturnType<typeof functionsOf>

const MINUTE_MS = 60_000
const TURNS_MAX = 5_000

export const openSteppedService = async (settings: Pick<Webhook, 'url' | 'events'>) => {
  let current = NOON.getTime()
  const now = (): number => current
  const runtime = still({ now: () => new Date(current), newId: newIds(), randomBytes, pause })
  const { items, readStream } = await openTable()
  const queues = newQueues(now)
  const secret = webhookSecret(Buffer.alloc(32, 1))
  const webhook = { secret, timeoutSeconds: 30, connectionTimeoutSeconds: 10, ...settings }
  await createFixtures(webhook)

  const functions = functionsOf(runtime)
  const run = async <R>(name: FunctionName, event: unknown): Promise<R> => {
    const invoke = functions[name] as (event: unknown, context: Context) => Promise<unknown>
    return (await actingAs(name, () => invoke(event, {} as Context))) as R
  }
  const relay = streamFeed(run, readStream)
  const work = queueFeed(run, queues, now)

  /** Runs all that is due; the stream goes first. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      if (!(await relay()) && !(await work())) return
    }
    throw new Error(`There is work after ${TURNS_MAX} turns`)
  }

  /** Moves the clock to the next event; false: there is none until then. */
  const waitForNext = async (until: number): Promise<boolean> => {
    const due = nextDue(await items())
    // Skips the sweeps that can find nothing.
    const sweepAt = Math.ceil(Math.max(due, current + 1) / MINUTE_MS) * MINUTE_MS
    const next = Math.min(sweepAt, queues.nextAt())
    if (next > until) return false
    current = Math.max(current, next)
    queues.fireSchedules()
    if (current === sweepAt) queues.put('sweeps', '{}')
    return true
  }

  return {
    webhook,
    queues,
    now: runtime.now,
    run,
    items,
    settle,
    /** Moves the clock by some seconds and runs all that becomes due. */
    pass: async (seconds: number): Promise<void> => {
      const end = current + seconds * 1000
      do await settle()
      while (await waitForNext(end))
      current = end
    },
    /** Drops the stream records of all writes so far. */
    dropStream: readStream,
  }
}

/** Creates the provider with its webhook and the bank, with the credentials of the sample events. */
const createFixtures = async (webhook: Webhook): Promise<void> => {
  await Promise.all([
    storeDemo(),
    storeWebhook(demoProvider.id, webhook),
    putSweepProgress({ until: NOON }),
  ])
}

/** A pause with a signal is a timeout, which never runs out: no receiver is slow. */
const pause: Runtime['pause'] = (_, signal) =>
  signal
    ? new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    : Promise.resolve()

/** Returns unique ids: DynamoDB Local deduplicates transaction tokens across tables. */
const newIds = (): Runtime['newId'] => {
  const origin = randomUUID().slice(0, 8)
  let count = 0
  return () => {
    count += 1
    return `${origin}-0000-4000-8000-${String(count).padStart(12, '0')}`
  }
}

/** Returns when the sweep next finds an item; Infinity: never. */
const nextDue = (items: readonly Item[]): number => {
  const until = String(items.find(({ pk }) => pk === 'SWEEP')?.until ?? '')
  return Math.min(
    ...items.flatMap(({ work = '', due }) => {
      const at = Date.parse(String(due))
      if (String(work).startsWith('WATCH#')) return [at]
      const isUnseen = String(work).startsWith('SETTLE#') && String(due) > until
      return isUnseen ? [at + SWEEP_GRACE_SECONDS * 1000] : []
    }),
  )
}
