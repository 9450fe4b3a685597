/** Times, or keys that begin with a time or a day; `before` can be in the result. */
export type KeySpan = { from: Date | string; before: Date | string }

const textOf = (bound: Date | string): string =>
  typeof bound === 'string' ? bound : bound.toISOString()

/** Returns a condition on a key that begins with a time, and its values. */
export const keysWithin = (key: 'sk' | 'byTime', { from, before }: KeySpan) =>
  [
    `${key} BETWEEN :from AND :before`,
    { ':from': textOf(from), ':before': textOf(before) },
  ] as const

/** Reports whether a key is within a span as a query reads it. */
export const isKeyWithin = (key: string, { from, before }: KeySpan): boolean =>
  key >= textOf(from) && key <= textOf(before)
