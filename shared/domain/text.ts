import * as v from 'valibot'

// C0 and C1 controls, lone surrogates and bidirectional overrides can forge a log line or mislead a
// customer. Some fields accept tabs and line breaks.
const FORBIDDEN = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u
const EACH_FORBIDDEN = new RegExp(FORBIDDEN, 'gu')
const FORBIDDEN_IN_LINES = /(?![\t\r\n])[\p{Cc}\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u
const LINE_CHARACTERS = /[\t\r\n\u2028\u2029]/g

const codePoints = (text: string): number => [...text].length

/** The message for a field that is absent, null or of another type. */
export const textMessage = (issue: { input: unknown }): string =>
  issue.input === undefined || issue.input === null ? 'is required' : 'must be a string'

type TextRule = {
  max: number
  /** Accepts tabs and line breaks, which become blanks. */
  lines?: boolean
}

// Includes invisible characters: U+200B, U+FEFF, fillers. DI is Default_Ignorable_Code_Point.
const BLANK = /^[\s\p{DI}\p{Cf}\u2800]*$/u

export const isBlank = (text: string): boolean => BLANK.test(text)

export const CONTROL_CHARACTERS = 'must not contain control or invisible formatting characters'

export const hasControlCharacters = (text: string, { lines }: { lines: boolean }): boolean =>
  (lines ? FORBIDDEN_IN_LINES : FORBIDDEN).test(text)

const AFTER_C0 = String.raw`\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069`
// BLANK for JSON Schema validators: its characters of the basic plane.
const BLANK_CLASS = String.raw`\s\u00AD\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB`

/** A character that is neither a control nor invisible, as a pattern for the API description. */
export const VISIBLE = String.raw`[^\u0000-\u001F${AFTER_C0}${BLANK_CLASS}]`

/** Returns the checks of a text as one pattern, for the API description. */
const patternOf = (lines: boolean): string => {
  const c0 = lines ? String.raw`\u0000-\u0008\u000B\u000C\u000E-\u001F` : String.raw`\u0000-\u001F`
  const any = `[^${c0}${AFTER_C0}]*`
  return `^${any}${VISIBLE}${any}$`
}

/** Replaces control characters and line ends by blanks: text of a peer must not control a terminal. */
export const printable = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()

export const singleLine = (text: string): string => text.replaceAll(LINE_CHARACTERS, ' ')

/** Text of 1 to `max` code points that is not blank and holds no control characters. */
export const text = ({ max, lines = false }: TextRule) =>
  v.pipe(
    v.string(textMessage),
    v.check((value) => !isBlank(value), 'is required'),
    // A string has at least as many UTF-16 units as code points, so few strings are counted.
    v.check(
      (value) => value.length <= max || (value.length <= 2 * max && codePoints(value) <= max),
      `must not exceed ${max} characters`,
    ),
    v.check((value) => !hasControlCharacters(value, { lines }), CONTROL_CHARACTERS),
    // JSON Schema counts code points as well.
    v.metadata({ minLength: 1, maxLength: max, pattern: patternOf(lines) }),
    v.transform((value) => (lines ? singleLine(value) : value)),
  )

/** Returns the first `max` code points of a text. */
export const cut = (text: string, max: number): string =>
  text.length <= max ? text : [...text].slice(0, max).join('')

/** Cuts text of any length to `max` code points; control characters become spaces. */
export const message = ({ max }: { max: number }) =>
  v.pipe(
    v.string(textMessage),
    v.transform((value) => cut(value.replaceAll(EACH_FORBIDDEN, ' ').trim(), max)),
  )

export const oneOf = <const T extends readonly string[]>(texts: T) =>
  v.picklist(texts, `must be one of ${texts.join(', ')}`)

// The forbidden characters, line separators, and the characters of tags and entities.
const ACTIVE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069<>&]/gu

const inHex = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes the characters of third-party text that a terminal, a log or a page could interpret. */
export const escaped = (text: string): string => text.replaceAll(ACTIVE, inHex)
