import { DatabaseSync } from 'node:sqlite'
import type { Movement } from '../domain/banks/statement.ts'
import type { StatementRow } from '../domain/banks/statement-row.ts'

/** A movement, and the line that names it; 0: none yet. */
export type Found = Omit<Movement, 'earlier'> & { rowid: number; line: number }

/** Memory of the database; what exceeds it is in a file without a name, which ends with the process. */
const CACHE_KIB = 64 * 1024

const TABLE = `
  pragma journal_mode = off;
  pragma cache_size = -${CACHE_KIB};
  create table movements
    (kind, reference, provider, uuid, bank_reference, amount, status, begun_at, completed_at, line);
  create unique index by_uuid on movements (uuid);
  create table earlier (uuid primary key, current);
  create index by_bank_reference on movements (bank_reference);
  begin`

/** Returns what can be a reference in a row: its uuid too, in each form, because camt.053 has one field for both. */
export const referencesOf = ({ uuid, bank_reference, reference }: StatementRow): string[] => {
  const forms = uuid ? [uuid, uuid.replaceAll('-', '')] : []
  const named = [bank_reference, reference].filter((one) => typeof one === 'string')
  return [...named, ...forms, ...forms.map((form) => form.toUpperCase())]
}

/** The movements of a bank, of which a day may have more than fit into memory. */
export const newMovements = () => {
  const database = new DatabaseSync('')
  database.exec(TABLE)
  const prepare = (sql: string) => database.prepare(sql)
  const insert = prepare(`insert or ignore into movements values
    (:kind, :reference, :provider, :uuid, :bank_reference, :amount, :status, :begun_at,
      :completed_at, 0)`)
  const insertEarlier = prepare('insert or ignore into earlier values (?, ?)')
  const mark = prepare('update movements set line = ? where rowid = ?')
  const select = 'select rowid, * from movements'
  const byUuid = prepare(
    `${select} where uuid = coalesce((select current from earlier where uuid = ?1), ?1)`,
  )
  /** Of several, one without a line and with the amount of the row, then one without a line. */
  const namedBy = (member: 'bank_reference' | 'reference') =>
    prepare(`${select} where ${member} = ? and (kind = ? or (? = 'outgoing' and kind <> 'debit'))
      order by line > 0, line = 0 and amount <> ?, rowid limit 1`)
  const byBankReference = namedBy('bank_reference')
  /** Prepared when a row has a reference that no bank gave. */
  let byReference: typeof byBankReference | undefined
  const newByReference = () => {
    database.exec('create index by_reference on movements (reference)')
    return namedBy('reference')
  }
  return {
    /** Adds a movement, unless one has its uuid. */
    add: ({ earlier = [], ...movement }: Movement): void => {
      // Banks pad references to a width, which a statement may not have.
      const bank_reference = movement.bank_reference?.trim() ?? null
      insert.run({ begun_at: null, ...movement, bank_reference })
      for (const uuid of earlier) insertEarlier.run(uuid, movement.uuid)
    },
    knows: (uuid: string): boolean => byUuid.get(uuid) !== undefined,
    /** Returns the movement of a row: by our uuid; if the uuid is empty or the bank’s own, by a reference. */
    find: (row: StatementRow, amount: string): Found | undefined => {
      const { uuid, bank_reference, kind } = row
      const own = byUuid.get(uuid)
      if (own) return own as Found
      const findBy = (statement: typeof byBankReference): Found | undefined => {
        for (const name of referencesOf(row)) {
          const found = statement.get(name, kind, kind, amount)
          if (found) return found as Found
        }
        return undefined
      }
      const found = findBy(byBankReference)
      if (found || bank_reference === null) return found
      byReference ??= newByReference()
      return findBy(byReference)
    },
    mark: ({ rowid }: Found, line: number): void => void mark.run(line, rowid),
    unnamed: () => prepare(`${select} where line = 0`).iterate() as IterableIterator<Found>,
    close: () => database.close(),
  }
}
