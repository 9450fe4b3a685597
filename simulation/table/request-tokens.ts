import { otherParameters } from './errors.ts'
import { isSame, type Value } from './values.ts'

const REMEMBERED_MS = 600_000

/** The transactions that were done under a token, for ten minutes. */
export type RequestTokens = {
  /**
   * Whether this very transaction was done already.
   * @throws IdempotentParameterMismatchException when another one was
   */
  isDone: (token: string, items: Value, now: number) => boolean
  remember: (token: string, items: Value, now: number) => void
}

export const newRequestTokens = (): RequestTokens => {
  // The oldest come first.
  const done = new Map<string, { items: Value; at: number }>()

  const forget = (now: number): void => {
    for (const [token, { at }] of done) {
      if (now - at < REMEMBERED_MS) return
      done.delete(token)
    }
  }

  return {
    isDone: (token, items, now) => {
      forget(now)
      const before = done.get(token)
      if (before && !isSame(before.items, items)) throw otherParameters()
      return before !== undefined
    },
    remember: (token, items, now) => {
      done.set(token, { items, at: now })
    },
  }
}
