import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import type { Entry, Journal } from './journal.ts'

/**
 * A journal in a file, one line per entry. The operating system has each line before the caller
 * learns of the change, so the state survives the end of this process, but not a power failure.
 */
export type JournalFile = Journal & {
  /** Returns the entries of earlier processes. */
  read: () => Generator<Entry>
  /** Replaces all entries; until then, nothing is written. */
  compact: (entries: Iterable<Entry>) => void
  close: () => void
}

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

export const openJournalFile = (file: string): JournalFile => {
  let descriptor: number | undefined
  const write = (entry: Entry): void => {
    if (descriptor !== undefined) writeSync(descriptor, `${JSON.stringify(entry)}\n`)
  }
  return {
    generation: Date.now(),
    read: () => entriesIn(file),
    write,
    compact: (entries) => {
      const next = `${file}.next`
      descriptor = openSync(next, 'w')
      for (const entry of entries) write(entry)
      renameSync(next, file)
    },
    close: () => {
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
    },
  }
}
