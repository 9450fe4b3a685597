/** The rows of stored lines: reference, two others, bank, completion, gross, fee. */

// biome-ignore lint/suspicious/noExplicitAny: members of several types
type Row = any[]

export const BANK = 3
export const GROSS = 5
export const FEE = 6

/** Changes the row of a reference in the text of a chunk. Without a new row, removes it. */
export const alterRow = (
  text: string,
  reference: string,
  change: (row: Row) => Row | undefined,
): string | undefined => {
  const rows = text.split('\n').flatMap((row) => {
    if (!row.includes(`"${reference}"`)) return row
    const next = change(JSON.parse(row))
    return next ? JSON.stringify(next) : []
  })
  return rows.length > 0 ? rows.join('\n') : undefined
}
