import * as v from 'valibot'
import { Uuid } from '../../domain/ids.ts'
import { Day } from '../../domain/time.ts'
import { bankOption, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const date = option('YYYY-MM-DD', 'the day, in UTC', Day)

const Cursor = v.object({
  provider: v.string(),
  status: v.string(),
  after: v.nullable(v.pipe(v.string(), v.maxLength(100))),
})

/**
 * The command reads the file and compares it; the function is asked for the books in parts, and
 * for the debits that the books do not show. The contents of the file stay on the machine.
 */
export const BookRequest = v.union([
  v.object({ cursor: v.nullable(Cursor) }),
  v.object({ uuids: v.pipe(v.array(Uuid), v.maxLength(5_000)) }),
])
export type BookRequest = v.InferOutput<typeof BookRequest>

export const reconciliation = {
  name: 'reconciliation',
  summary: 'compares the table with itself, and the books with a bank’s statement',
  verbs: {
    run: {
      summary: 'checks a day and prints each difference; changes nothing',
      options: options({ date }),
    },
    statement: {
      summary: 'compares a bank’s statement of a day with its completed debits; changes nothing',
      options: options({
        bank: bankOption,
        statement: option(
          'FILE',
          'a CSV file with uuid or bank_reference, amount, currency, completed_at; - for standard input',
          v.string(),
        ),
        date,
      }),
    },
  },
} as const satisfies Noun
