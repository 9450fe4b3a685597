import { createHash } from 'node:crypto'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { answerCalls } from '../../sandbox/aws/sdk.ts'
import { newTable } from '../../sandbox/aws/table/table.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { completedDay, itemOf } from './completed-day.ts'
import { newPartitions } from './partitions.ts'

/** Milliseconds of a call to AWS in one Region; a transaction of 100 items takes 100 to 250. */
const DURATIONS: Record<string, number> = {
  TransactWriteCommand: 150,
  QueryCommand: 20,
  BatchGetCommand: 20,
  UploadPartCommand: 200,
}
const DURATION = 10

const ENVIRONMENT = { TABLE_NAME: 'timed', REPORTS_BUCKET: 'reports', AWS_REGION: 'eu-west-1' }

// biome-ignore lint/suspicious/noExplicitAny: inputs of any command
type Input = any

/**
 * Answers the SDK from a table in memory and a bucket that keeps digests. Calls take time on a virtual
 * clock, and transactions in flight at the same item conflict.
 */
export const timedCalls = (startAt: Date) => {
  const clock = virtualClock(startAt)
  const { after, pause } = clock
  const name = ENVIRONMENT.TABLE_NAME
  const counts = { transactions: 0, cancelled: 0, inFlight: 0, inFlightMax: 0, queries: 0 }
  const units = { read: 0, write: 0 }
  const partitions = newPartitions(clock.now)
  const table = newTable({
    definition: tableDefinition,
    name,
    now: clock.now,
    onConsumed: (consumed) => {
      units[consumed.kind] += consumed.units
      if (consumed.kind === 'write') partitions.take(consumed.parts)
    },
  })
  const transact = newTransactions({ table, counts, pause, partitions })
  const reports = new Map<string, { bytes: number; digest: string; uploads: number }>()
  let beforeCall = (_command: string): void => undefined
  let onContinued = { after: 0, start: (): void => undefined }

  const answer = async (command: string, input: Input): Promise<unknown> => {
    beforeCall(command)
    if (command === 'TransactWriteCommand') return transact(input)
    if (command === 'QueryCommand') counts.queries += 1
    await pause(DURATIONS[command] ?? DURATION)
    if (command in table.commands) {
      const before = continuationsOf(table.items, input)
      const output = table.run(command, input)
      if (continuationsOf(table.items, input) > before) after(onContinued.after, onContinued.start)
      return output
    }
    return storeReport(reports, command, input)
  }
  answerCalls((command) => answer(command.constructor.name, command.input))
  const previous = { ...process.env }
  Object.assign(process.env, ENVIRONMENT)

  const runtime: Runtime = { ...real, now: () => new Date(clock.now()), pause }
  return {
    table,
    counts,
    /** Capacity units. */
    units,
    partitions,
    reports,
    runtime,
    /** Passes calls to the network again. */
    end: () => {
      answerCalls(() => undefined)
      for (const variable of Object.keys(ENVIRONMENT)) process.env[variable] = previous[variable]
    },
    /** Milliseconds since the start. */
    elapsed: () => clock.now() - startAt.getTime(),
    /** Called before each call; an error rejects it. */
    before: (hook: (command: string) => void) => {
      beforeCall = hook
    },
    /** Starts a builder as the relay does, some milliseconds after a build is left to another one. */
    whenContinued: (milliseconds: number, start: () => void) => {
      onContinued = { after: milliseconds, start }
    },
  }
}

/** Returns timed calls to a table that has a completed, unsettled day. */
export const timedDay = (count: number, startAt: Date) => {
  const day = completedDay(count)
  const calls = timedCalls(startAt)
  for (const index of day.references.keys()) {
    calls.table.run('PutCommand', { TableName: ENVIRONMENT.TABLE_NAME, Item: itemOf(day, index) })
  }
  return { ...calls, provider: day.provider, references: day.references }
}

/** A clock that passes only between events, when the process waits for nothing but calls. */
const virtualClock = (startAt: Date) => {
  let time = startAt.getTime()
  const events: { at: number; run: () => void }[] = []
  let isRunning = false

  const step = (): void => {
    const next = events.shift()
    if (!next) {
      isRunning = false
      return
    }
    time = Math.max(time, next.at)
    next.run()
    setImmediate(step)
  }
  const after = (milliseconds: number, run: () => void): void => {
    const event = { at: time + milliseconds, run }
    const index = events.findIndex(({ at }) => at > event.at)
    events.splice(index < 0 ? events.length : index, 0, event)
    if (!isRunning) setImmediate(step)
    isRunning = true
  }
  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => after(milliseconds, resolve))
  return { now: () => time, after, pause }
}

const keysIn = ({ TransactItems }: Input): string[] =>
  TransactItems.map(({ Put, Update, ConditionCheck }: Input) => {
    const { pk, sk } = Put?.Item ?? (Update ?? ConditionCheck).Key
    return `${pk} ${sk}`
  })

type Transactions = {
  table: ReturnType<typeof newTable>
  counts: { transactions: number; cancelled: number; inFlight: number; inFlightMax: number }
  pause: (milliseconds: number) => Promise<void>
  partitions: ReturnType<typeof newPartitions>
}

/** Returns a function that performs a transaction; those in flight at the same item conflict. */
const newTransactions = ({ table, counts, pause, partitions }: Transactions) => {
  const locked = new Set<string>()
  return async (input: Input): Promise<unknown> => {
    const keys = keysIn(input)
    const conflicts = keys.map((key) => locked.has(key))
    counts.transactions += 1
    if (conflicts.includes(true)) {
      counts.cancelled += 1
      await pause(DURATION)
      throw conflict(conflicts)
    }
    for (const key of keys) locked.add(key)
    counts.inFlight += 1
    counts.inFlightMax = Math.max(counts.inFlightMax, counts.inFlight)
    try {
      await pause(DURATIONS.TransactWriteCommand ?? DURATION)
      const output = table.run('TransactWriteCommand', input)
      await pause(partitions.wait())
      return output
    } catch (error) {
      counts.cancelled += 1
      throw error
    } finally {
      counts.inFlight -= 1
      for (const key of keys) locked.delete(key)
    }
  }
}

const conflict = (conflicts: readonly boolean[]) =>
  new TransactionCanceledException({
    message: 'Transaction cancelled',
    CancellationReasons: conflicts.map((isOne) => ({
      Code: isOne ? 'TransactionConflict' : 'None',
    })),
    $metadata: {},
  })

const continuationsOf = (items: () => Iterable<Input>, { Item }: Input): number =>
  Item?.entity === 'build'
    ? ([...items()].find(({ entity }) => entity === 'build')?.continuations ?? 0)
    : 0

type Reports = Map<string, { bytes: number; digest: string; uploads: number }>

/** Each upload replaces the report under its key; parts arrive in any order. */
const parts = new Map<string, Map<number, Uint8Array>>()

const storeReport = (reports: Reports, command: string, input: Input): unknown => {
  const { Key, Body, UploadId = `${Key} ${Math.random()}`, PartNumber = 1 } = input
  switch (command) {
    case 'CreateMultipartUploadCommand':
      return { UploadId }
    case 'UploadPartCommand':
      parts.set(UploadId, (parts.get(UploadId) ?? new Map()).set(PartNumber, Body))
      return { ETag: 'part' }
    case 'PutObjectCommand':
      parts.set(UploadId, new Map([[1, Body]]))
      break
    case 'CompleteMultipartUploadCommand':
      break
    default:
      return {}
  }
  const hash = createHash('sha256')
  let bytes = 0
  for (const [, body] of [...(parts.get(UploadId) ?? [])].sort(([one], [other]) => one - other)) {
    hash.update(body)
    bytes += body.byteLength
  }
  parts.delete(UploadId)
  const uploads = (reports.get(Key)?.uploads ?? 0) + 1
  reports.set(Key, { bytes, digest: hash.digest('hex'), uploads })
  return { ETag: 'report' }
}
