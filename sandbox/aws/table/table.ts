import { unsupported } from './errors.ts'
import { readCommands } from './read-commands.ts'
import { newStorage, type TableOptions } from './storage.ts'
import { streamRecord } from './stream-record.ts'
import { writeCommands } from './write-commands.ts'

export type Table = ReturnType<typeof newTable>

/** An in-memory table. It returns the stored items themselves, frozen. */
export const newTable = (options: TableOptions) => {
  const storage = newStorage(options)
  const { restore, removeExpired, items } = storage
  const commands = { ...readCommands(storage, options), ...writeCommands(storage, options) }
  return {
    /**
     * Runs a command of the document client, given the name of its class: `GetCommand`, ...
     * @throws the SDK's errors, and an Error for a feature that the product does not use
     */
    run: (name: string, input: object): Record<string, unknown> => {
      const command = commands[name as keyof typeof commands]
      if (!command) throw unsupported(name)
      return (command as (input: object) => Record<string, unknown>)(input)
    },
    commands,
    streamRecord,
    restore,
    removeExpired,
    items,
  }
}
