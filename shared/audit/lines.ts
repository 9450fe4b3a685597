import { hash } from 'node:crypto'

/** Canonical lines of records, their digests, and the differences between two sets of lines. */

/** A record of the audit. Its id is unique in its source and day. */
export type AuditRecord = { id: string; at: Date | string } & Record<string, unknown>

/** The JSON of a record, with sorted members and without a line break. */
export type AuditLine = { id: string; at: string; text: string }

type LinesReader = () => AsyncIterable<AuditLine>

const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** Returns JSON that does not depend on the order in which members were stored. */
export const canonical = (value: object): string => JSON.stringify(value, sorted)

/** @throws SyntaxError for a line that is no JSON */
export const parseLine = (text: string): AuditLine => {
  const { id, at } = JSON.parse(text) as { id?: unknown; at?: unknown }
  return { id: String(id), at: String(at), text }
}

export async function* linesOf(records: AsyncIterable<AuditRecord>): AsyncGenerator<AuditLine> {
  for await (const record of records) yield parseLine(canonical(record))
}

export type LineDifference = { kind: 'altered' | 'removed' | 'inserted'; line: AuditLine }

/** Lines in memory at a time. */
const LINES_MAX = 10_000

/**
 * Yields the lines that differ, in any order of the lines and in bounded memory. Equal sets are read
 * once, others once more for each ten thousand lines.
 */
export async function* differencesBetween(
  sealed: LinesReader,
  current: LinesReader,
  linesMax = LINES_MAX,
): AsyncGenerator<LineDifference> {
  const [before, now] = [await sumOf(sealed()), await sumOf(current())]
  if (before.count === now.count && before.sum === now.sum) return
  const parts = Math.ceil(Math.max(before.count, now.count) / linesMax)
  for (let part = 0; part < parts; part += 1) {
    const isOfPart = ({ id }: AuditLine) => partOf(id, parts) === part
    const open = new Map<string, AuditLine>()
    for await (const line of sealed()) if (isOfPart(line)) open.set(line.id, line)
    for await (const line of current()) {
      if (!isOfPart(line)) continue
      const expected = open.get(line.id)
      open.delete(line.id)
      if (!expected) yield { kind: 'inserted', line }
      else if (expected.text !== line.text) yield { kind: 'altered', line }
    }
    for (const line of open.values()) yield { kind: 'removed', line }
  }
}

/** The sum of the digests of all lines, of 256 bits, does not depend on their order. */
const sumOf = async (lines: AsyncIterable<AuditLine>) => {
  let [count, sum] = [0, 0n]
  for await (const { text } of lines) {
    count += 1
    sum = BigInt.asUintN(256, sum + BigInt(`0x${hash('sha256', text)}`))
  }
  return { count, sum }
}

const partOf = (id: string, parts: number): number =>
  parts === 1 ? 0 : Number.parseInt(hash('sha256', id).slice(0, 8), 16) % parts
