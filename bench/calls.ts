import { clients } from '../aws/sdk.ts'
import { jobNames, jobRow } from '../infra/definitions/jobs.ts'
import { actor } from '../sandbox/authorizer.ts'
import { type InvocationEvent, invocations } from '../sandbox/function-host.ts'
import { type Proceed, sendMetered } from './units.ts'

/** Counts the calls that functions make during some work, as AWS bills them. */

export type CallCounts = {
  /** DynamoDB units, including indexes. */
  written: number
  read: number
  sqs: number
  schedules: number
  invoked: number
  milliseconds: number
  byFunction: Map<string, number>
  /** Bytes. */
  logged: number
}

/** Excluded: it runs at fixed intervals, however few debits there are. */
const SWEEP = 'sweep'

export const countCalls = async (work: () => Promise<void>): Promise<CallCounts> => {
  const counts: CallCounts = {
    written: 0,
    read: 0,
    sqs: 0,
    schedules: 0,
    invoked: 0,
    milliseconds: 0,
    byFunction: new Map(),
    logged: 0,
  }
  const stops = [countCommands(counts), countInvocations(counts), countLogs(counts)]
  try {
    await work()
    return counts
  } finally {
    for (const stop of stops) stop()
  }
}

const WRITES = /^(?:Put|Update|Delete|TransactWrite|BatchWrite)/

const countCommands = (counts: CallCounts): (() => void) => {
  const { send } = clients
  clients.send = async function (command, ...rest) {
    const proceed: Proceed = (other = command) => send.call(this, other, ...rest)
    const name = actor()
    if (name === undefined || name === SWEEP) return proceed()
    const { input } = command
    const { name: call } = command.constructor
    if ('TableName' in input || 'RequestItems' in input || 'TransactItems' in input) {
      const { output, units, overhead } = await sendMetered(command, proceed)
      counts.milliseconds -= overhead
      counts[WRITES.test(call) ? 'written' : 'read'] += units
      return output
    }
    const output = await proceed()
    if (/^SendMessage|^ChangeMessageVisibility/.test(call)) counts.sqs += 1
    if (call === 'CreateScheduleCommand') counts.schedules += 1
    return output
  }
  return () => {
    clients.send = send
  }
}

const queueJobs = new Set<string>(jobNames.filter((name) => 'queues' in jobRow(name).from))

const countInvocations = (counts: CallCounts): (() => void) => {
  const count = (message: unknown) => {
    const { name, milliseconds } = message as InvocationEvent
    if (name === SWEEP) return
    counts.invoked += 1
    counts.milliseconds += milliseconds
    counts.byFunction.set(name, (counts.byFunction.get(name) ?? 0) + 1)
    // Lambda receives and deletes a batch.
    if (queueJobs.has(name)) counts.sqs += 2
  }
  invocations.subscribe(count)
  return () => {
    invocations.unsubscribe(count)
  }
}

const countLogs = (counts: CallCounts): (() => void) => {
  const { write } = process.stdout
  process.stdout.write = (text: string | Uint8Array) => {
    counts.logged += Buffer.byteLength(text)
    return true
  }
  return () => {
    process.stdout.write = write
  }
}
