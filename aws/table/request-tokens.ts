import { tokenMismatch } from './errors.ts'
import { isSame, type Value } from './values.ts'

const KEPT_MS = 600_000

/** The transactions of the last ten minutes, by their client request token. */
export const newRequestTokens = () => {
  // A Map iterates the oldest first.
  const done = new Map<string, { items: Value; at: number }>()

  const removeOld = (now: number): void => {
    for (const [token, { at }] of done) {
      if (now - at < KEPT_MS) return
      done.delete(token)
    }
  }

  return {
    /** @throws IdempotentParameterMismatchException if the token belongs to another transaction */
    isDone: (token: string, items: Value, now: number): boolean => {
      removeOld(now)
      const previous = done.get(token)
      if (previous && !isSame(previous.items, items)) throw tokenMismatch()
      return previous !== undefined
    },
    remember: (token: string, items: Value, now: number): void => {
      done.set(token, { items, at: now })
    },
  }
}
