import { isUtf8 } from 'node:buffer'
import { tokenize } from '@humanwhocodes/momoa'
import { isObject, parseJson } from '../domain/json.ts'
import { invalid, Refusal } from '../domain/refusal.ts'
import { WHOLE } from '../domain/validation.ts'

/**
 * Checks the text of a body (docs/api.md#bodies). JSON.parse keeps the last of two equal keys and
 * loses the text of a number, so the text is read token by token.
 */

const BYTES_MAX = 64 * 1024
const DEPTH_MAX = 32

// A careless copy of an object with these keys changes its prototype, here or at a receiver.
const RESERVED_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

export const NOT_JSON = 'body must be JSON'
export const NOT_AN_OBJECT = 'body must be a JSON object'

export const malformed = (reason: string): Refusal => new Refusal(1400, { details: [reason] })

/** Returns the body as sent, cut at 64 KiB: text, or `base64:` and base64 if it is not UTF-8. */
export const originalBody = (body: string | null, isBase64Encoded: boolean): string => {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  const start = bytes.subarray(0, BYTES_MAX)
  return isUtf8(bytes) ? start.toString('utf8') : `base64:${start.toString('base64')}`
}

/** Decodes the body from the gateway's text or base64; 400/1400 if empty, too large or not UTF-8. */
export const bodyText = (
  body: string | null | undefined,
  isBase64Encoded: boolean,
): string | Refusal => {
  if (!body) return malformed('body is required')
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : undefined
  if ((bytes?.byteLength ?? Buffer.byteLength(body)) > BYTES_MAX) return malformed('body too large')
  try {
    return bytes ? utf8.decode(bytes) : body.toWellFormed()
  } catch {
    return malformed('body must be UTF-8')
  }
}

/** With ignoreBOM a byte order mark stays in the text, which then is not JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Path = readonly (string | number)[]

/** The source text of every number in the body. */
export type NumberTexts = readonly { path: Path; text: string }[]

type Scanned = { numbers: NumberTexts; reserved: Path | undefined }

/** Reads the tokens: numbers and reserved keys, or 400/1400. */
export const scan = (text: string): Scanned | Refusal => {
  const numbers: NumberTexts[number][] = []
  const levels: { isObject: boolean; keys: Set<string>; key: string | number }[] = []
  let reserved: Path | undefined
  const path = (): Path => levels.map(({ key }) => key)
  const tokens = tokensOf(text)
  if (!tokens) return malformed(NOT_JSON)
  for (const [index, token] of tokens.entries()) {
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
        if (!level?.isObject || tokens[index + 1]?.type !== 'Colon') break
        // The tokenizer accepts raw control characters, which JSON forbids.
        const key = parseJson(textOf(text, token)) as string | undefined
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

/**
 * Rejects a reserved key: 422/1007 under its top-level field, or 400/1400 if the text is not an object. A
 * field with such a name is refused as `body`, so that no reply and no item contains it.
 */
export const checkReserved = (
  text: string,
  { reserved }: Scanned,
  { wrapper }: { wrapper?: string },
): Refusal | undefined => {
  if (!reserved) return undefined
  const [field = ''] = reserved[0] === wrapper && reserved.length > 1 ? reserved.slice(1) : reserved
  const parsed = parseJson(text)
  if (!isObject(parsed)) return malformed(parsed === undefined ? NOT_JSON : NOT_AN_OBJECT)
  const name = RESERVED_KEYS.has(String(field)) ? WHOLE : field
  return invalid({ [name]: ['must not contain reserved keys'] })
}

type Token = { type: string; range?: readonly number[] }

// The parser checks the order of the tokens later.
const tokensOf = (text: string): Token[] | undefined => {
  try {
    return tokenize(text, { mode: 'json', ranges: true })
  } catch {
    return undefined
  }
}

const textOf = (text: string, { range: [start, end] = [] }: Token): string => text.slice(start, end)

type KnownFields = { names: readonly string[]; decimals?: readonly string[] | undefined }

/** Rejects numbers that parsing would change: 422/1007. Decimals keep their text; unknown fields are ignored. */
const checkNumbers = (
  numbers: NumberTexts,
  { names, decimals = [] }: KnownFields,
): Refusal | undefined => {
  const fields = numbers
    .filter(({ text }) => !isKeptExactly(text))
    .map(({ path: [field] }) => String(field))
    .filter((field) => names.includes(field) && !decimals.includes(field))
  const messages = fields.map((field) => [
    field,
    ['contains a number that cannot be stored exactly'],
  ])
  return fields.length > 0 ? invalid(Object.fromEntries(messages)) : undefined
}

/** Returns the fields of a parsed body, from its wrapper if it has one, with decimals as text. */
export const fieldsOf = (
  body: unknown,
  numbers: NumberTexts,
  { wrapper, ...fields }: KnownFields & { wrapper?: string | undefined },
): Record<string, unknown> | Refusal => {
  if (!isObject(body)) return malformed(NOT_AN_OBJECT)
  if (wrapper === undefined || !(wrapper in body)) {
    return checkNumbers(numbers, fields) ?? withTexts(body, numbers, fields)
  }
  const others = Object.keys(body).filter((key) => key !== wrapper)
  if (others.length > 0)
    return malformed(`fields must be inside ${wrapper} or at the top level, not both`)
  const inner = body[wrapper]
  if (!isObject(inner)) return invalid({ [wrapper]: ['must be an object'] })
  const innerNumbers = numbers.map(({ path, text }) => ({ path: path.slice(1), text }))
  return checkNumbers(innerNumbers, fields) ?? withTexts(inner, innerNumbers, fields)
}

const withTexts = (
  body: Record<string, unknown>,
  numbers: NumberTexts,
  { decimals = [] }: KnownFields,
): Record<string, unknown> => ({
  ...body,
  ...Object.fromEntries(
    numbers
      .filter(({ path }) => path.length === 1 && decimals.includes(String(path[0])))
      .map(({ path, text }) => [String(path[0]), text]),
  ),
})

/** Normalizes a decimal number to sign, digits without outer zeros, and power of ten. */
const exactValue = (text: string): string => {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  if (end === 0) return '0'
  return `${sign}${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`
}

/** Reports whether parsing keeps the value of a JSON number: 1e22 and 0.10, but not 1e400. */
export const isKeptExactly = (text: string): boolean => {
  const parsed = Number(text)
  return Number.isFinite(parsed) && exactValue(String(parsed)) === exactValue(text)
}
