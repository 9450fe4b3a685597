import type { DynamoDBRecord } from 'aws-lambda'
import type { Change, Item } from './change.ts'
import { unsupported } from './errors.ts'
import { readCommands } from './read-commands.ts'
import { newStorage, type Storage, type TableOptions } from './storage.ts'
import { streamRecord } from './stream-record.ts'
import { writeCommands } from './write-commands.ts'

/** An in-memory table. It returns the stored items themselves, frozen. */
export type Table = {
  /**
   * Runs a command of the document client, given the name of its class: `GetCommand`, ...
   * @throws the SDK's errors, and an Error for a feature that the product does not use
   */
  run: (command: string, input: object) => Record<string, unknown>
  /** The names of the commands. */
  commands: object
  restore: Storage['restore']
  removeExpired: Storage['removeExpired']
  streamRecord: (change: Change) => DynamoDBRecord
  items: () => Item[]
}

export const newTable = (options: TableOptions): Table => {
  const storage = newStorage(options)
  const commands = { ...readCommands(storage, options), ...writeCommands(storage, options) }
  return {
    run: (name, input) => {
      const command = commands[name as keyof typeof commands]
      if (!command) throw unsupported(name)
      return (command as (input: object) => Record<string, unknown>)(input)
    },
    commands,
    streamRecord,
    restore: storage.restore,
    removeExpired: storage.removeExpired,
    items: storage.items,
  }
}
