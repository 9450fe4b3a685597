import type { BankIdentifier } from '../../domain/banks/bank.ts'
import type { MovementKind } from '../../domain/banks/statement-row.ts'
import type { Day } from '../../domain/time.ts'
import { keys } from '../keys.ts'
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
