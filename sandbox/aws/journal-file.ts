import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Entry } from './journal.ts'

export type JournalFile = ReturnType<typeof openJournalFile>

const NEWLINE = 10

const bytesOf = (file: string): Buffer => {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

function* entriesIn(bytes: Buffer, onLine: () => void): Generator<Entry> {
  // A killed process may leave an incomplete last line, of which no caller learned.
  for (let from = 0, end = bytes.indexOf(NEWLINE); end !== -1; ) {
    onLine()
    yield JSON.parse(bytes.toString('utf8', from, end))
    from = end + 1
    end = bytes.indexOf(NEWLINE, from)
  }
}

/**
 * Opens a journal in a file, one line per entry. The operating system has each line before the caller
 * learns of the change, so the state survives the end of this process, but not a power failure.
 * @param end ends the process, as on a full disk: no line may follow an incomplete one
 */
export const openJournalFile = (file: string, end: (error: Error) => never) => {
  let descriptor: number | undefined
  const orEnd = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      end(error as Error)
    }
  }
  const write = (entry: Entry): void =>
    orEnd(() => {
      if (descriptor !== undefined) writeFileSync(descriptor, `${JSON.stringify(entry)}\n`)
    })
  const next = `${file}.next`
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }
  /** Opens a new file. `commit` replaces the old one by it. */
  const begin = (): void =>
    orEnd(() => {
      close()
      descriptor = openSync(next, 'w', 0o600)
    })
  const commit = (): void => orEnd(() => renameSync(next, file))
  return {
    generation: Date.now(),
    /** Returns what `use` makes of the entries of earlier processes. @throws Error that names the line */
    read: <T>(use: (entries: Iterable<Entry>) => T): T => {
      const bytes = bytesOf(file)
      let line = 0
      const count = () => {
        line += 1
      }
      try {
        return use(entriesIn(bytes, count))
      } catch (cause) {
        const remedy = 'delete the folder to start with the seeds'
        throw new Error(`${file} is damaged at or before line ${line}: ${remedy}`, { cause })
      }
    },
    write,
    begin,
    commit,
    /** Replaces all entries; until then, nothing is written. */
    compact: (entries: Iterable<Entry>): void => {
      begin()
      for (const entry of entries) write(entry)
      commit()
    },
    close,
  }
}
