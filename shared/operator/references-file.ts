import { type Reference, readReference } from '../domain/ids.ts'
import {
  type FileParts,
  firstLineOf,
  type LineError,
  PRINTED_MAX,
  recordsIn,
  refuse,
} from './csv-file.ts'

/** A CSV file with references of debits: a column `reference`, or one reference a line. */

const COLUMN = 'reference'

/** @throws MalformedFile with line and reason of each line without a reference */
export const readReferences = async (file: FileParts): Promise<Reference[]> => {
  const references = new Set<Reference>()
  const errors: LineError[] = []
  let [count, column]: [number, number | undefined] = [0, undefined]
  for await (const csv of recordsIn(file)) {
    if (column === undefined) {
      const header = csv.record.findIndex((name) => name.toLowerCase() === COLUMN)
      column = Math.max(header, 0)
      if (header >= 0) continue
      if (!readReference(csv.record[0])) {
        refuse([
          { line: csv.info.lines, reason: `is neither the header ${COLUMN} nor a reference` },
        ])
      }
    }
    const reference = readReference(csv.record[column])
    if (reference) references.add(reference)
    else if (++count <= PRINTED_MAX) {
      errors.push({ line: firstLineOf(csv), reason: `${COLUMN} is malformed` })
    }
  }
  if (count > 0) refuse(errors, count)
  if (references.size === 0) refuse([{ line: 1, reason: 'the file has no reference' }])
  return [...references]
}
