import { functionRows } from '../../../infra/definitions/functions.ts'

/** The model of Lambda's time: waiting for calls, and processor time at the function's memory. */

/** Milliseconds of a call within a Region: medians of published measurements. */
const milliseconds: Record<string, number> = {
  GetCommand: 4,
  QueryCommand: 5,
  BatchGetCommand: 5,
  PutCommand: 6,
  UpdateCommand: 6,
  DeleteCommand: 6,
  SendMessageCommand: 8,
  SendMessageBatchCommand: 8,
  ChangeMessageVisibilityCommand: 8,
  CreateScheduleCommand: 30,
  DeleteScheduleCommand: 30,
  PutObjectCommand: 40,
}

/** A transaction takes 20 ms for four items and 150 ms for a hundred. */
export const callMilliseconds = (name: string, { TransactItems }: { TransactItems?: unknown }) =>
  Array.isArray(TransactItems) ? 15 + 1.35 * TransactItems.length : (milliseconds[name] ?? 10)

/** Processor time on a whole processor: of an AWS call, and of each record or request. */
const CALL_PROCESSOR_SECONDS = 0.001
const RECORD_PROCESSOR_SECONDS = 0.001

/** The memory at which Lambda gives a function one whole processor. */
const WHOLE_PROCESSOR_MEGABYTES = 1_769

const memory = new Map(
  functionRows.map(({ name, memoryMegabytes }) => [name as string, memoryMegabytes]),
)

type Work = {
  /** Seconds. */
  waited: number
  /** AWS calls. */
  calls: number
  records: number
}

export const gigabyteSecondsOf = (name: string, { waited, calls, records }: Work): number => {
  const megabytes = memory.get(name) ?? 0
  const processorSeconds = calls * CALL_PROCESSOR_SECONDS + records * RECORD_PROCESSOR_SECONDS
  const computed = processorSeconds / Math.min(1, megabytes / WHOLE_PROCESSOR_MEGABYTES)
  return ((waited + computed) * megabytes) / 1_024
}
