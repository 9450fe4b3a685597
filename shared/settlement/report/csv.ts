/** Comma-separated values that spreadsheets and programs read alike (RFC 4180). */

const RECORD_END = '\r\n'

// A sign that begins a formula, also in full width and after blanks or invisible characters (DI is
// Default_Ignorable_Code_Point), which spreadsheets skip; and the apostrophe of the guard itself.
const GUARDED = /^(?:['\t\r\n]|[\s\p{DI}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/u

// A semicolon separates fields where the comma is the decimal sign.
const NEEDS_QUOTES = /[",;\t\r\n]/

/**
 * Returns free text as a field: with an apostrophe before it where a spreadsheet would run it.
 * Different texts stay different. Amounts are no free text: one below zero begins with its sign.
 */
export const guarded = (text: string): string => (GUARDED.test(text) ? `'${text}` : text)

const quoted = (field: string): string =>
  NEEDS_QUOTES.test(field) ? `"${field.replaceAll('"', '""')}"` : field

export const csvRecord = (fields: readonly string[]): string =>
  `${fields.map(quoted).join(',')}${RECORD_END}`
