import { jobNames, jobRow } from '../../../infra/definitions/jobs.ts'
import { newAws } from '../../../sandbox/aws/aws.ts'
import type { SteppedClock } from '../../../sandbox/aws/clock.ts'
import { faultless } from '../../../sandbox/aws/conditions.ts'
import { answerCalls, type Command } from '../../../sandbox/aws/sdk.ts'
import { currentInvocation, newInvocations } from '../../simulation/engine/invocations.ts'
import { startWorkers, timeoutOf } from '../../simulation/engine/warm-functions.ts'
import { callMilliseconds, gigabyteSecondsOf } from './lambda-time.ts'
import { noUsage, type Usage } from './usage.ts'

/** The deployed functions and an in-memory AWS, with counts of what each function consumes. */

export type RunName = Parameters<typeof timeoutOf>[0]

/** An SQS poller returns what became visible within this time; a stream poller reads 4 times a second. */
const QUEUE_POLL_MS = 50
const STREAM_POLL_MS = 250

const queueJobs = new Set<string>(jobNames.filter((name) => 'queues' in jobRow(name).from))

export type Usages = ReturnType<typeof newUsages>

export const newUsages = () => {
  const byFunction = new Map<string, Usage>()
  const usageOf = (name: string): Usage => {
    const usage = byFunction.get(name) ?? noUsage()
    byFunction.set(name, usage)
    return usage
  }
  return {
    byFunction,
    usageOf,
    ofCurrent: (): Usage | undefined => {
      const worker = currentInvocation()
      return worker && usageOf(worker.name)
    },
    /** Calls to AWS, by number of the running invocation. */
    calls: new Map<number, number>(),
  }
}

/** Returns a function that invokes a function and measures it. */
export const measuredRun = (clock: SteppedClock, { usageOf, calls }: Usages) => {
  const workers = newInvocations({ clock, skew: () => 0 })
  const callWorker = startWorkers()
  return async (name: RunName, event: unknown, onStart?: (invocation: number) => void) => {
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
}

/** Answers the SDK from an in-memory AWS. Each call takes its time and counts for its function. */
export const measuredAws = (
  clock: SteppedClock,
  { usageOf, calls }: Usages,
  run: ReturnType<typeof measuredRun>,
) => {
  let schedulerInvocations = 0
  /** The usage of the function whose call is performed. */
  let caller: Usage | undefined
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
  return { aws, countSchedulerInvocations: () => schedulerInvocations }
}
