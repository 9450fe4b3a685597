import type { DynamoDBRecord } from 'aws-lambda'
import type { Change, Item } from '../engine/observations.ts'
import type { TableDefinition } from './keys.ts'
import type { QueryInput } from './query.ts'
import { type ReadInput, readsOf } from './read-commands.ts'
import { newStorage } from './storage.ts'
import { streamRecord } from './stream-record.ts'
import { type TransactInput, writesOf } from './write-commands.ts'
import type { WriteInput } from './writes.ts'

export type TableOptions = {
  definition: TableDefinition
  name: string
  /** Milliseconds since 1970; never goes back. */
  now: () => number
  /** How long after its commit a change is seen in an index, in milliseconds. */
  indexLag?: (index: string) => number
  /** How old a read that is not strongly consistent may be, in milliseconds. */
  staleness?: () => number
  /** Who is writing just now. */
  by?: () => Change['by']
}

/**
 * The one table, in memory: takes the inputs of the document client's commands and gives their
 * outputs, at once. Whatever it hands out is frozen, so it may be what is storage itself.
 */
export type Table = {
  /**
   * @param command the name of a command's class: `GetCommand`, ...
   * @throws what the SDK throws
   */
  run: (command: string, input: object) => Record<string, unknown>
  /** Every committed change that changed something, in order. */
  changes: readonly Change[]
  streamRecord: (change: Change) => DynamoDBRecord
  items: () => Item[]
  /** The lowest sort key in the partitions of an index that begin so, seen there yet or not. */
  earliest: (index: string, partitionPrefix: string) => string | undefined
}

type Run = (input: object) => Record<string, unknown>

export const newTable = (options: TableOptions): Table => {
  const storage = newStorage(options)
  const reads = readsOf(storage, options)
  const writes = writesOf(storage, options)
  const commands: Record<string, Run> = {
    GetCommand: (input) => reads.get(input as ReadInput),
    QueryCommand: (input) => reads.query(input as QueryInput),
    ScanCommand: (input) => reads.scan(input as QueryInput),
    BatchGetCommand: (input) => reads.batchGet(input),
    TransactGetCommand: (input) => reads.transactGet(input),
    PutCommand: (input) => writes.write('Put', input as WriteInput),
    UpdateCommand: (input) => writes.write('Update', input as WriteInput),
    DeleteCommand: (input) => writes.write('Delete', input as WriteInput),
    TransactWriteCommand: (input) => writes.transact(input as TransactInput),
  }

  const run = (command: string, input: object): Record<string, unknown> => {
    const found = commands[command]
    if (!found) throw new Error(`The table knows no ${command}`)
    return found(input)
  }

  return {
    run,
    streamRecord,
    changes: storage.changes,
    items: storage.items,
    earliest: (index, prefix) => storage.index(index).earliest(prefix, options.now()),
  }
}
