/** CSV of RFC 4180, safe to open in a spreadsheet (docs/api.md#settlement-reports). */

const RECORD_END = '\r\n'

// Characters that start a formula, also in full width and after blanks or invisible characters (DI:
// Default_Ignorable_Code_Point), and the apostrophe of the guard.
const GUARDED = /^(?:['\t\r\n]|[\s\p{DI}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/u

// Spreadsheets with a decimal comma split at semicolons.
const NEEDS_QUOTES = /[",;\t\r\n]/

/** Prefixes text that a spreadsheet would evaluate with an apostrophe. Not for amounts. */
export const guarded = (text: string): string => (GUARDED.test(text) ? `'${text}` : text)

const quoted = (field: string): string =>
  NEEDS_QUOTES.test(field) ? `"${field.replaceAll('"', '""')}"` : field

export const csvRecord = (fields: readonly string[]): string =>
  `${fields.map(quoted).join(',')}${RECORD_END}`
