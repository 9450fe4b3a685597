import { hash } from 'node:crypto'
import { parseJson } from '../domain/json.ts'
import { type Day, dayAfter } from '../domain/time.ts'
import { type FileDigest, readLines, readObject } from './bucket.ts'
import { type AuditLine, canonical, parseLine } from './lines.ts'

/** The object of a day, which names its predecessor and the digests of its files. */

type DayLink = { day: Day; sha256: string }

/** The result of a reconciliation, without its examples. */
export type SealedResult = {
  checked_at: Date | string
  differences: number
  invariants: readonly { number: number; checked: number; differences: number }[]
}

export type SealedContent = {
  day: Day
  /** Counts restores, from 1. */
  generation: number
  /** Null: the first object of a chain. */
  previous: DayLink | null
  sealed_at: Date | string
  sources: Record<string, FileDigest>
  /** Records of the previous day that were written after its object. */
  late: FileDigest
  /** In pesewas by account, without fundings; null: not stored yet. */
  balances: Record<string, number> | null
  /** Null: a later night sealed the day. */
  reconciliation: SealedResult | null
}

export const LATE = 'late'

/** An object as it is stored; without `content` if it cannot be read. */
export type SealedDay = DayLink & { content: SealedContent | undefined }

const parsed = (text: string): SealedContent | undefined => {
  const content = parseJson(text) as SealedContent | null | undefined
  return content?.sources && content.late ? content : undefined
}

/** @param day the day of the object's key */
export const findSealed = async (day: Day): Promise<SealedDay | undefined> => {
  const text = await readObject(day)
  return text === undefined
    ? undefined
    : { day, sha256: hash('sha256', text), content: parsed(text) }
}

/** A longer gap starts a new chain. */
export const GAP_DAYS_MAX = 35

/** Returns the last object before a day. */
export const findSealedBefore = async (day: Day): Promise<SealedDay | undefined> => {
  for (let back = 1; back <= GAP_DAYS_MAX; back += 1) {
    const found = await findSealed(dayAfter(day, -back))
    if (found) return found
  }
  return undefined
}

/** A line of the file of late records. */
export const lateLine = (day: Day, source: string, { text }: AuditLine): string =>
  canonical({ day, source, record: JSON.parse(text) })

/** Yields the sealed lines of a source, also those that a later object has as late. */
export async function* sealedLines(
  day: Day,
  source: string,
  next: SealedDay | undefined,
): AsyncGenerator<AuditLine> {
  for await (const text of readLines(day, source)) yield parseLine(text)
  if (!next?.content?.late.count) return
  for await (const text of readLines(next.day, LATE)) {
    const late = JSON.parse(text)
    if (late.day === day && late.source === source) yield parseLine(canonical(late.record))
  }
}
