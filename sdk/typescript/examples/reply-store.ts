import type { DatabaseSync } from 'node:sqlite'
import type { ReplyStore } from '../src/index.ts'

/** Stores the replies of a bank in SQLite, each in the transaction of its bookings. */
export const replyStore = (db: DatabaseSync): ReplyStore => {
  db.exec('CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT) STRICT')
  const read = (key: string) =>
    db.prepare('SELECT reply FROM replies WHERE key = ?').get(key)?.reply as string | undefined
  const decideOnce = async (key: string, decide: () => Promise<string>): Promise<string> => {
    // If two processes have the request, the later one reads the reply of the first.
    db.exec('BEGIN IMMEDIATE')
    try {
      const earlier = read(key)
      const reply = earlier ?? (await decide())
      if (earlier === undefined) db.prepare('INSERT INTO replies VALUES (?, ?)').run(key, reply)
      db.exec('COMMIT')
      return reply
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
  // A connection has one transaction at a time.
  let last: Promise<unknown> = Promise.resolve()
  return {
    // A request that `once` still decides was received.
    read: (key) => last.then(() => read(key)),
    once: (key, decide) => {
      const reply = last.then(() => decideOnce(key, () => decide(undefined)))
      last = reply.catch(() => undefined)
      return reply
    },
  }
}
