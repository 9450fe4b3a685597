import * as v from 'valibot'

// C0 and C1 controls, lone surrogates and bidirectional overrides: text that can forge a log line
// or show a customer something else than what was approved. Tabs and line ends may stand where
// lines make sense.
const FORBIDDEN = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u
const FORBIDDEN_IN_LINES = /(?![\t\r\n])[\p{Cc}\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

const codePoints = (text: string): number => [...text].length

/** What a caller reads when a field is absent, null or of another type. */
export const textMessage = (issue: { input: unknown }): string =>
  issue.input === undefined || issue.input === null ? 'is required' : 'must be a string'

type TextRule = {
  max: number
  /** Tabs and line ends may stand in it. */
  lines?: boolean
  mayBeBlank?: boolean
}

export const isBlank = (text: string): boolean => text.trim() === ''

export const CONTROL_CHARACTERS = 'must not contain control characters'

export const hasControlCharacters = (text: string, { lines }: { lines: boolean }): boolean =>
  (lines ? FORBIDDEN_IN_LINES : FORBIDDEN).test(text)

const AFTER_C0 = String.raw`\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069`

/** The checks of a text as one pattern, for the description of the API. */
const patternOf = (lines: boolean, mayBeBlank: boolean): string => {
  const c0 = lines ? String.raw`\u0000-\u0008\u000B\u000C\u000E-\u001F` : String.raw`\u0000-\u001F`
  const any = `[^${c0}${AFTER_C0}]*`
  return mayBeBlank ? `^${any}$` : `^${any}[^${c0}${AFTER_C0}\\s]${any}$`
}

/** Text of 1 to `max` code points that is not blank and holds no control characters. */
export const text = ({ max, lines = false, mayBeBlank = false }: TextRule) =>
  v.pipe(
    v.string(textMessage),
    v.check((value) => mayBeBlank || !isBlank(value), 'is required'),
    // A string has at least as many UTF-16 units as code points, so most are never spread.
    v.check(
      (value) => value.length <= max || (value.length <= 2 * max && codePoints(value) <= max),
      `must not exceed ${max} characters`,
    ),
    v.check((value) => !hasControlCharacters(value, { lines }), CONTROL_CHARACTERS),
    // JSON Schema counts code points as well; the checks cannot tell it so themselves.
    v.metadata({
      minLength: mayBeBlank ? 0 : 1,
      maxLength: max,
      pattern: patternOf(lines, mayBeBlank),
    }),
  )

/** One of a few texts, which the refusal lists. */
export const oneOf = <const T extends readonly string[]>(texts: T) =>
  v.picklist(texts, `must be one of ${texts.join(', ')}`)

// Beyond the forbidden ones: separators that break lines, and what opens a tag or an entity.
const ACTIVE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069<>&]/gu

const inHex = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Text of a stranger, with everything as `\uXXXX` that a terminal, a log or a page could obey. */
export const escaped = (text: string): string => text.replaceAll(ACTIVE, inHex)
