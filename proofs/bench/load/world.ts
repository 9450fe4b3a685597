import '../../simulation/platform/register.ts'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { jobNames, jobRow } from '../../../infra/definitions/jobs.ts'
import { newAws } from '../../../sandbox/aws/aws.ts'
import { newSteppedClock } from '../../../sandbox/aws/clock.ts'
import { faultless } from '../../../sandbox/aws/conditions.ts'
import { answerCalls, type Command } from '../../../sandbox/aws/sdk.ts'
import { callMilliseconds, gigabyteSecondsOf } from './lambda-time.ts'
import { newBank, newReceiver } from './peers.ts'
import { nextPeriod, startSchedules } from './schedules.ts'
import { type Stored, storedIn } from './stored.ts'
import { noUsage, type Usage, type UsageByFunction } from './usage.ts'

/**
 * Runs the deployed functions under a steady load, against an in-memory AWS, on a stepped clock, and
 * counts what each function consumes. Loaded in a process of its own: it replaces network modules.
 */

process.env = { ...process.env }
await import('../../simulation/aws/environment.ts')
Object.assign(process.env, {
  CACHE_SECONDS: '30',
  AWS_LAMBDA_LOG_LEVEL: 'INFO',
  METRICS_DISABLED: 'false',
})
const { enter } = await import('../../simulation/engine/current.ts')
const { newEffects } = await import('../../simulation/engine/effects.ts')
const { newFaults } = await import('../../simulation/engine/faults.ts')
const { currentInvocation, newInvocations } = await import('../../simulation/engine/invocations.ts')
const { newNetwork } = await import('../../simulation/engine/network.ts')
const { randomOf } = await import('../../simulation/engine/random.ts')
const { runtimeOf, timeoutsOf } = await import('../../simulation/engine/runtime.ts')
const { newTrace } = await import('../../simulation/engine/trace.ts')
const { startWorkers, timeoutOf } = await import('../../simulation/engine/warm-functions.ts')
const { newApi } = await import('../../simulation/peers/api.ts')
const { BANK, hostOf, PHONE, providerId, writeFixtures } = await import('./fixtures.ts')

export type Load = {
  providers: number
  /** Charges per second of each provider. */
  perSecond: number
  seconds: number
}

export type LoadResult = {
  debits: number
  byFunction: UsageByFunction
  /** Timeouts that fired; each is also a request of Scheduler to SQS. */
  schedulerInvocations: number
  stored: Stored
}

type RunName = Parameters<typeof timeoutOf>[0]

/** An SQS poller returns what became visible within this time; a stream poller reads 4 times a second. */
const QUEUE_POLL_MS = 50
const STREAM_POLL_MS = 250
/** The time from the acceptance of a submission to the bank's report. */
const OUTCOME_MS = 30_000

const queueJobs = new Set<string>(jobNames.filter((name) => 'queues' in jobRow(name).from))

/** Charges, completes, settles and pays out debits. Every webhook is delivered at once. */
export const runLoad = async ({ providers, perSecond, seconds }: Load): Promise<LoadResult> => {
  const { midnight, chargesAt, end } = nextPeriod()
  const clock = newSteppedClock(chargesAt)
  const random = randomOf(1)
  const faults = newFaults(random, { faults: new Set(), intensity: 0 })
  const effects = newEffects({ clock, random, faults, trace: newTrace(clock), crashes: [] })
  const byFunction = new Map<string, Usage>()
  const calls = new Map<number, number>()
  let schedulerInvocations = 0

  const usageOf = (name: string): Usage => {
    const usage = byFunction.get(name) ?? noUsage()
    byFunction.set(name, usage)
    return usage
  }
  const ofCurrent = (): Usage | undefined => {
    const worker = currentInvocation()
    return worker && usageOf(worker.name)
  }

  const workers = newInvocations({ clock, skew: () => 0 })
  const callWorker = startWorkers()
  const run = async (name: RunName, event: unknown, onStart?: (invocation: number) => void) => {
    const startedAt = clock.now()
    let number = 0
    const result = await workers.run(name, timeoutOf(name), () => {
      number = currentInvocation()?.number ?? 0
      onStart?.(number)
      return callWorker(name, number, event, { functionName: name } as never)
    })
    const usage = usageOf(name)
    usage.invocations += 1
    if (queueJobs.has(name)) usage.sqs += 2
    const { Records = [1] } = event as { Records?: readonly unknown[] }
    usage.gigabyteSeconds += gigabyteSecondsOf(name, {
      waited: (clock.now() - startedAt) / 1000,
      calls: calls.get(number) ?? 0,
      records: Records.length,
    })
    calls.delete(number)
    if (result.kind === 'threw') throw result.error
    return result
  }

  const aws = newAws({
    clock,
    tableName: 'simulated',
    invoke: async (name, event) => {
      const result = await run(name, event)
      return result.kind === 'done' ? result : { kind: 'failed' }
    },
    conditions: {
      ...faultless,
      readDelay: () => STREAM_POLL_MS,
      pollDelay: () => QUEUE_POLL_MS,
      // A large table, as a provider with this load has.
      shards: 4,
    },
    onConsumed: ({ kind, units }) => {
      if (caller) caller[kind === 'read' ? 'read' : 'written'] += units
    },
    // Counts the messages of schedules.
    skips: () => {
      schedulerInvocations += 1
      return false
    },
  })

  /** The usage of the function whose call is performed. */
  let caller: Usage | undefined
  answerCalls((command: Command) => {
    const { name } = command.constructor
    const worker = currentInvocation()
    const perform = () => aws.perform(name, command.input)
    if (!worker) return new Promise((resolve) => resolve(perform()))
    calls.set(worker.number, (calls.get(worker.number) ?? 0) + 1)
    if (/^SendMessage|^ChangeMessageVisibility/.test(name)) usageOf(worker.name).sqs += 1
    return new Promise((resolve, reject) => {
      clock.after(callMilliseconds(name, command.input), () => {
        caller = usageOf(worker.name)
        try {
          resolve(perform())
        } catch (error) {
          reject(error)
        } finally {
          caller = undefined
        }
      })
    })
  })

  const network = newNetwork({ clock, random, effects, peerAt: (host) => peerAt(host) })
  enter({
    runtime: runtimeOf(clock, random),
    network,
    timeout: timeoutsOf(clock, network.isAwaited),
  })
  const replied = async (name: RunName, event: unknown, onStart?: (invocation: number) => void) => {
    const result = await run(name, event, onStart)
    if (result.kind === 'done') {
      const { body = '', headers } = result.value as APIGatewayProxyResult
      usageOf(name).sent += body.length + JSON.stringify(headers ?? {}).length
    }
    return result
  }
  const api = newApi({ clock, random, faults, run: replied, calls: [], isPaused: () => false })
  const bank = newBank((uuid) =>
    clock.after(OUTCOME_MS, () =>
      ask({
        name: 'update-debit-transaction',
        caller: { kind: 'bank', id: BANK },
        path: { uuid },
        body: {
          status: 'completed',
          bank_reference: `B-${uuid.slice(0, 8)}`,
          approval_method: 'ussd',
        },
      }),
    ),
  )
  const receiver = newReceiver((bytes) => {
    usageOf('deliver-webhook').sent += bytes
  })
  const peerAt = (host: string) => (host === hostOf(BANK) ? bank : receiver)

  let answered = 0
  const ask = async (request: Parameters<typeof api.ask>[0]): Promise<void> => {
    const call = await api.ask({ ...request, triesMax: 1 })
    const status = call?.reply?.status
    if (status !== 202 && status !== 200) throw new Error(`${request.name} was answered ${status}`)
    answered += 1
  }

  const stopLogs = countLogs((bytes) => {
    const usage = ofCurrent()
    if (usage) usage.logged += bytes
  })
  try {
    await writeFixtures(new Date(clock.now()), providers)
    const debits = Math.round(providers * perSecond * seconds)
    for (let index = 0; index < debits; index += 1) {
      clock.at(chargesAt + (index * 1000) / (providers * perSecond), () =>
        ask({
          name: 'charge',
          caller: { kind: 'provider', id: providerId(index % providers) },
          body: {
            phone_number: PHONE,
            bank_identifier: BANK,
            amount: '1.00',
            currency: 'GHS',
            narration: 'Payment for your order, thank you for shopping',
            partner_reference: `order-2026-01-10-${String(index).padStart(6, '0')}`,
          },
        }),
      )
    }
    startSchedules(clock, aws.queues.put, midnight)
    await idle()
    while (clock.step(end)) await idle()
    if (answered !== 2 * debits)
      throw new Error(`${answered} of ${2 * debits} requests were answered`)
    return { debits, byFunction, schedulerInvocations, stored: storedIn(aws.table) }
  } finally {
    stopLogs()
  }
}

/** Lets all pending promises and streams settle. */
const idle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Counts the bytes of log lines and discards them. @returns a function that stops */
const countLogs = (count: (bytes: number) => void): (() => void) => {
  const { write } = process.stdout
  process.stdout.write = (text: string | Uint8Array) => {
    count(Buffer.byteLength(text))
    return true
  }
  return () => {
    process.stdout.write = write
  }
}
