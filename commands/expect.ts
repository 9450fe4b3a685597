import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../shared/domain/json.ts'
import { printable } from '../shared/domain/text.ts'

/** A failed check, in one line. */
export class Mismatch extends Error {
  constructor(expected: unknown, actual: unknown) {
    super(`expected ${format(expected)}, got ${format(actual)}`)
  }
}

const PRINTED_MAX = 300

const format = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return printable(text).slice(0, PRINTED_MAX)
}

/** Reduces a value to the members that the expected value names, so that a message shows only them. */
const reduce = (actual: unknown, expected: unknown): unknown => {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((element, index) => reduce(element, expected[index]))
  }
  if (!isObject(actual) || !isObject(expected)) return actual
  const names = Object.keys(expected).filter((name) => name in actual)
  return Object.fromEntries(names.map((name) => [name, reduce(actual[name], expected[name])]))
}

/**
 * Compares the members that the expected value names, and all elements of an array.
 * @throws Mismatch
 */
export const expectParts = (actual: unknown, expected: unknown): void => {
  const reduced = reduce(actual, expected)
  if (!isDeepStrictEqual(reduced, expected)) throw new Mismatch(expected, reduced)
}

/**
 * Repeats an attempt until it does not throw a Mismatch.
 * @throws the Mismatch of the last attempt when the time is up
 */
export const eventually = async <T>(
  attempt: () => Promise<T>,
  { seconds, everyMs = 1_000, signal }: { seconds: number; everyMs?: number; signal: AbortSignal },
): Promise<T> => {
  const end = performance.now() + seconds * 1_000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Mismatch) || performance.now() >= end) throw error
    }
    await pause(everyMs, undefined, { signal })
  }
}
