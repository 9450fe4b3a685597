import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { AROUND_DAYS, type Booked } from '../../domain/banks/statement.ts'
import type { MovementKind } from '../../domain/banks/statement-row.ts'
import { type Day, dayAfter } from '../../domain/time.ts'
import { keys, sha256 } from '../keys.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'

/** The result of the last comparison of a bank's statement of a day. */
export type ComparedStatement = {
  bank: BankIdentifier
  date: Day
  /** The kinds of movements that the file had. */
  covers: MovementKind[]
  /** The SHA-256 of the file. */
  digest: string
  counts: Record<'matched' | 'missing_here' | 'missing_at_bank' | 'differs', number>
  /** Lines or references of the first rows and movements of these groups. */
  names: Record<'missing_here' | 'missing_at_bank' | 'differs', string[]>
  /** The uuids of its movements that were completed on later days. Absent: none. */
  ahead?: string[] | undefined
  /** The digest of what the statements of the days before named then. Absent: null. */
  booked?: string | null | undefined
  /** The time before its movements were read. */
  at: Date
  by: string
}

export const putStatement = (statement: ComparedStatement): Promise<void> =>
  db.put(keys.statement(statement.date, statement.bank), 'statement', toStored(statement))

export const listStatements = async (date: Day): Promise<ComparedStatement[]> => {
  const { pk } = keys.statement(date, '')
  const items = await db.queryAll(
    db.itemsQuery(pk, 'begins_with(sk, :date)', { ':date': `${date}#` }),
  )
  return items.map((item) => fromStored<ComparedStatement>(db.withoutKeys(item), { at: true }))
}

/**
 * Reads the statements of the days before, so that a movement has its row on one day only.
 * @returns what those of a bank name
 */
export const loadBooked = async (date: Day): Promise<(bank: BankIdentifier) => Booked> => {
  const before = Array.from({ length: AROUND_DAYS }, (_, n) => dayAfter(date, -1 - n))
  const statements = (await Promise.all(before.map(listStatements))).flat()
  return (bank) => {
    const named = statements
      .filter((statement) => statement.bank === bank)
      .flatMap(({ date: day, ahead = [] }) => ahead.map((uuid) => [uuid, day] as const))
      .sort()
    return {
      days: Object.fromEntries(named),
      digest: named.length === 0 ? null : sha256(JSON.stringify(named)),
    }
  }
}
