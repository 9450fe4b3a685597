import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import type { Entry } from './journal.ts'

export type JournalFile = ReturnType<typeof openJournalFile>

const NEWLINE = 10

function* entriesIn(file: string): Generator<Entry> {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  // A killed process may leave an incomplete last line, of which no caller learned.
  for (let from = 0, end = bytes.indexOf(NEWLINE); end !== -1; ) {
    yield JSON.parse(bytes.toString('utf8', from, end))
    from = end + 1
    end = bytes.indexOf(NEWLINE, from)
  }
}

/**
 * Opens a journal in a file, one line per entry. The operating system has each line before the caller
 * learns of the change, so the state survives the end of this process, but not a power failure.
 */
export const openJournalFile = (file: string) => {
  let descriptor: number | undefined
  const write = (entry: Entry): void => {
    if (descriptor !== undefined) writeSync(descriptor, `${JSON.stringify(entry)}\n`)
  }
  return {
    generation: Date.now(),
    /** Returns the entries of earlier processes. */
    read: () => entriesIn(file),
    write,
    /** Replaces all entries; until then, nothing is written. */
    compact: (entries: Iterable<Entry>): void => {
      const next = `${file}.next`
      descriptor = openSync(next, 'w')
      for (const entry of entries) write(entry)
      renameSync(next, file)
    },
    close: (): void => {
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
    },
  }
}
