/** Comma-separated values that spreadsheets and programs read alike (RFC 4180). */

const RECORD_END = '\r\n'

/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/

const NEEDS_QUOTES = /[",\r\n]/

/**
 * Free text as a field: with a leading apostrophe where a spreadsheet would run it. Amounts are no
 * free text; one below zero begins with its sign and is a number.
 */
export const guarded = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)

const quoted = (field: string): string =>
  NEEDS_QUOTES.test(field) ? `"${field.replaceAll('"', '""')}"` : field

export const csvRecord = (fields: readonly string[]): string =>
  `${fields.map(quoted).join(',')}${RECORD_END}`
