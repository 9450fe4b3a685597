import type { Item } from '../../../sandbox/aws/table/change.ts'

/** Stored lines, parsed independently of the product. */

/** The lines of one transaction: rows of JSON, one per line of text. */
export type RawChunk = Item & { debits?: string; adjustments?: string }

export type RawLine = {
  type: string
  reference: string
  completedAt: number
  gross: number
  fee: number
  net: number
}

export const linesIn = ({ debits = '', adjustments = '' }: RawChunk): RawLine[] =>
  [
    { type: 'debit', text: debits },
    { type: 'adjustment', text: adjustments },
  ].flatMap(({ type, text }) =>
    text
      .split('\n')
      .filter((row) => row !== '')
      .map((row) => {
        const [reference, , , , completedAt, gross, fee] = JSON.parse(row)
        return { type, reference, completedAt, gross, fee, net: gross - fee }
      }),
  )
