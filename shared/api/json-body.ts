import { isUtf8 } from 'node:buffer'
import { tokenize } from '@humanwhocodes/momoa'
import { invalid, Refusal } from '../domain/refusal.ts'
import { isKeptExactly } from './number-text.ts'

/**
 * What a request body must be before anyone looks at its fields: one JSON object in UTF-8, of
 * bounded size and depth, with no key twice. JSON.parse would keep the last of two equal keys and
 * forget how a number was written, so the text itself is read once, token by token.
 */

const BYTES_MAX = 64 * 1024
const DEPTH_MAX = 32

// Keys that reach an object's prototype when objects are copied carelessly, here or at a receiver.
const RESERVED_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

export const NOT_JSON = 'body must be JSON'
const NOT_AN_OBJECT = 'body must be a JSON object'

export const malformed = (reason: string): Refusal => new Refusal(1400, { details: [reason] })

/** The body as the caller sent it: text, or `base64:` and base64 when it is not UTF-8; cut at 64 KiB. */
export const originalBody = (body: string | null, isBase64Encoded: boolean): string => {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  const start = bytes.subarray(0, BYTES_MAX)
  return isUtf8(bytes) ? start.toString('utf8') : `base64:${start.toString('base64')}`
}

/** The body's text, from the bytes or the text that the gateway hands over. */
export const bodyText = (body: string | null, isBase64Encoded: boolean): string | Refusal => {
  if (body === null || body === '') return malformed('body is required')
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.byteLength > BYTES_MAX) return malformed('body too large')
  try {
    // A byte order mark stays in the text, and is not JSON.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return malformed('body must be UTF-8')
  }
}

/** The keys and the indexes that lead to a value of the body. */
type Path = readonly (string | number)[]

/** Every number of the body, as it was written. */
export type NumberTexts = readonly { path: Path; text: string }[]

export type Scanned = {
  numbers: NumberTexts
  /** The path of the first reserved key, if there is one. */
  reserved: Path | undefined
}

type Level = { isObject: boolean; keys: Set<string>; key: string | number }

/** Reads the text once: its numbers as written, or why it is no acceptable body. */
export const scan = (text: string): Scanned | Refusal => {
  const numbers: NumberTexts[number][] = []
  const levels: Level[] = []
  let reserved: Path | undefined
  const path = (): Path => levels.map(({ key }) => key)
  const tokens = tokensOf(text)
  if (!tokens) return malformed(NOT_JSON)
  for (const [n, token] of tokens.entries()) {
    const level = levels.at(-1)
    switch (token.type) {
      case 'LBrace':
      case 'LBracket':
        if (levels.length === DEPTH_MAX) return malformed('body is nested too deeply')
        levels.push({ isObject: token.type === 'LBrace', keys: new Set(), key: 0 })
        break
      case 'RBrace':
      case 'RBracket':
        levels.pop()
        break
      case 'String': {
        if (!level?.isObject || tokens[n + 1]?.type !== 'Colon') break
        const key = decodedKey(textOf(text, token))
        if (key === undefined) return malformed(NOT_JSON)
        if (level.keys.has(key)) return malformed(`duplicate key in body: ${key.slice(0, 50)}`)
        level.keys.add(key)
        level.key = key
        if (RESERVED_KEYS.has(key)) reserved ??= path()
        break
      }
      case 'Comma':
        if (typeof level?.key === 'number') level.key += 1
        break
      case 'Number':
        numbers.push({ path: path(), text: textOf(text, token) })
        break
    }
  }
  return { numbers, reserved }
}

/** The tokenizer lets raw control characters pass, which JSON does not. */
const decodedKey = (text: string): string | undefined => {
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}

/** 422/1007 under the field that a reserved key stands in, if the text is an object at all. */
export const checkReserved = (
  text: string,
  { reserved }: Scanned,
  { wrapper }: { wrapper?: string },
): Refusal | undefined => {
  if (!reserved) return undefined
  const [field] = reserved[0] === wrapper && reserved.length > 1 ? reserved.slice(1) : reserved
  try {
    if (!isObject(JSON.parse(text))) return malformed(NOT_AN_OBJECT)
  } catch {
    return malformed(NOT_JSON)
  }
  return invalid({ [field ?? '']: ['must not contain reserved keys'] })
}

type Token = { type: string; range?: readonly number[] }

// Only the tokens: whether they stand in a valid order is for the parser, which comes after.
const tokensOf = (text: string): Token[] | undefined => {
  try {
    return tokenize(text, { mode: 'json', ranges: true })
  } catch {
    return undefined
  }
}

const textOf = (text: string, { range: [start, end] = [] }: Token): string => text.slice(start, end)

/**
 * Rejects with 422/1007 each field that holds a number which parsing would change. Decimals are
 * judged by their text alone.
 */
const judgeNumbers = (numbers: NumberTexts, decimals: readonly string[]): Refusal | undefined => {
  const fields = numbers
    .filter(({ text }) => !isKeptExactly(text))
    .map(({ path: [field] }) => String(field))
    .filter((field) => !decimals.includes(field))
  const messages = fields.map((field) => [
    field,
    ['contains a number that cannot be stored exactly'],
  ])
  return fields.length > 0 ? invalid(Object.fromEntries(messages)) : undefined
}

/**
 * The fields of a parsed body: taken out of the wrapper where the operation has one, with the
 * decimals as the text they were written in.
 */
export const fieldsOf = (
  body: unknown,
  numbers: NumberTexts,
  { decimals = [], wrapper }: { decimals?: readonly string[]; wrapper?: string },
): Record<string, unknown> | Refusal => {
  if (!isObject(body)) return malformed(NOT_AN_OBJECT)
  if (wrapper === undefined || !(wrapper in body)) {
    return judgeNumbers(numbers, decimals) ?? withTexts(body, numbers, decimals)
  }
  const others = Object.keys(body).filter((key) => key !== wrapper)
  if (others.length > 0)
    return malformed(`fields must be inside ${wrapper} or at the top level, not both`)
  const inner = body[wrapper]
  if (!isObject(inner)) return invalid({ [wrapper]: ['must be an object'] })
  const within = numbers.map(({ path, text }) => ({ path: path.slice(1), text }))
  return judgeNumbers(within, decimals) ?? withTexts(inner, within, decimals)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const withTexts = (
  fields: Record<string, unknown>,
  numbers: NumberTexts,
  decimals: readonly string[],
): Record<string, unknown> => ({
  ...fields,
  ...Object.fromEntries(
    numbers
      .filter(({ path }) => path.length === 1 && decimals.includes(String(path[0])))
      .map(({ path, text }) => [String(path[0]), text]),
  ),
})
