import { jobNames, jobRow } from '../infra/definitions/jobs.ts'
import { actor } from '../sandbox/authorizer.ts'
import { type InvocationEvent, invocations } from '../sandbox/function-host.ts'
import { isTableCommand, isWrite, tapSends } from './sends.ts'
import { sendMetered } from './units.ts'

/** Counts what the functions call while some work is done, as AWS would bill it. */

export type Counted = {
  /** Units of DynamoDB, those of indexes among them. */
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

/** Of the sweep and the like, which come however few debits there are. */
const RECURRING = new Set(['sweep'])

export const countCalls = async (work: () => Promise<void>): Promise<Counted> => {
  const counted: Counted = {
    written: 0,
    read: 0,
    sqs: 0,
    schedules: 0,
    invoked: 0,
    milliseconds: 0,
    byFunction: new Map(),
    logged: 0,
  }
  const stops = [countClients(counted), countInvocations(counted), countLog(counted)]
  try {
    await work()
    return counted
  } finally {
    for (const stop of stops) stop()
  }
}

const countClients = (counted: Counted): (() => void) =>
  tapSends(async (command, onwards) => {
    const name = actor()
    if (name === undefined || RECURRING.has(name)) return onwards()
    if (isTableCommand(command)) {
      const { output, units, counting } = await sendMetered(command, onwards)
      counted.milliseconds -= counting
      counted[isWrite(command) ? 'written' : 'read'] += units
      return output
    }
    const output = await onwards()
    const call = command.constructor.name
    if (call.startsWith('SendMessage') || call === 'ChangeMessageVisibilityCommand') {
      counted.sqs += 1
    }
    if (call === 'CreateScheduleCommand') counted.schedules += 1
    return output
  })

const countInvocations = (counted: Counted): (() => void) => {
  const heard = (message: unknown) => {
    const { name, milliseconds } = message as InvocationEvent
    if (RECURRING.has(name)) return
    counted.invoked += 1
    counted.milliseconds += milliseconds
    counted.byFunction.set(name, (counted.byFunction.get(name) ?? 0) + 1)
    // Jobs are fed from queues, but for the one that reads the stream.
    if (isFedByQueue(name)) counted.sqs += 2
  }
  invocations.subscribe(heard)
  return () => {
    invocations.unsubscribe(heard)
  }
}

const countLog = (counted: Counted): (() => void) => {
  const { write } = process.stdout
  process.stdout.write = (text: string | Uint8Array) => {
    counted.logged += Buffer.byteLength(text)
    return true
  }
  return () => {
    process.stdout.write = write
  }
}

const queueFed = new Set<string>(jobNames.filter((name) => 'queues' in jobRow(name).from))

const isFedByQueue = (name: string): boolean => queueFed.has(name)
