/**
 * Types for functions that build one object from another. A key that such a function forgets, also an
 * optional one, does not compile.
 */

/** `T` with all keys written; an optional one can be undefined. */
export type Complete<T> = { [K in keyof Required<T>]: T[K] }

type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Returns the members that are not undefined: items, JSON and fingerprints omit the others. */
export const defined = <T extends object>(members: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Defined<T>

type Snake<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : S

/**
 * JSON that shows each key of `T` under its name in snake_case. `Named` keys are under another name, in
 * another place, or hidden.
 */
export type Shows<T, Named extends keyof T = never> = Record<string, unknown> &
  Record<Snake<Exclude<keyof T, Named> & string>, unknown>

/**
 * Does not compile for a source with another key. `_others` are the members that a function has neither
 * used nor named.
 */
export const noneRemain = (_others: Record<string, never>): void => {}
