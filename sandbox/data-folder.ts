import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type JournalFile, openJournalFile } from './aws/journal-file.ts'
import { StartFailure } from './start-failure.ts'

/** Reports whether a process was killed, but not reaped by its parent, as in many containers. */
const isZombie = (pid: number): boolean => {
  const status = `/proc/${pid}/status`
  return existsSync(status) && /^State:\s+Z/m.test(readFileSync(status, 'utf8'))
}

const isAlive = (pid: number): boolean => {
  // In containers every process has the same id. A start that was killed left an empty file: 0 is no process.
  if (pid === process.pid || !(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Writes the id of this process into the folder. @throws StartFailure */
const lock = (folder: string): (() => void) => {
  const file = join(folder, 'sandbox.pid')
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const owner = Number(readFileSync(file, 'utf8'))
    if (isAlive(owner)) throw new StartFailure(`${folder} is in use by process ${owner}`)
    writeFileSync(file, String(process.pid))
  }
  return () => rmSync(file, { force: true })
}

/** Makes a folder with its parents. Node's own `recursive` never returns below /proc. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
}

/**
 * Opens the folder that keeps the state of a sandbox, for one process. A change that it cannot keep ends
 * the process before its caller learns of it.
 * @throws StartFailure
 */
export const openDataFolder = (folder: string): JournalFile => {
  const reasonOf = (error: unknown) => `${folder} cannot keep the data: ${(error as Error).message}`
  try {
    // Its files have personal data and the sealing key.
    makeFolder(resolve(folder))
    const unlock = lock(folder)
    const end = (error: Error): never => {
      try {
        process.stderr.write(`${reasonOf(error)}\n`)
        unlock()
      } finally {
        process.exit(1)
      }
    }
    const journal = openJournalFile(join(folder, 'journal.jsonl'), end)
    return {
      ...journal,
      read: (use) => {
        try {
          return journal.read(use)
        } catch (error) {
          throw new StartFailure((error as Error).message)
        }
      },
      close: () => {
        journal.close()
        unlock()
      },
    }
  } catch (error) {
    if (error instanceof StartFailure) throw error
    throw new StartFailure(reasonOf(error))
  }
}
