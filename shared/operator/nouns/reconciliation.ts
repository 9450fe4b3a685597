import * as v from 'valibot'
import { Uuid } from '../../domain/ids.ts'
import { Day } from '../../domain/time.ts'
import { bankOption, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const date = option('YYYY-MM-DD', 'UTC day', Day)

const Cursor = v.object({
  provider: v.string(),
  status: v.string(),
  after: v.nullable(v.pipe(v.string(), v.maxLength(100))),
})

/** The command requests the bank's debits in pages, then those of uuids that no page contains. */
export const StatementRequest = v.union([
  v.object({ cursor: v.nullable(Cursor) }),
  v.object({ uuids: v.pipe(v.array(Uuid), v.maxLength(5_000)) }),
])
export type StatementRequest = v.InferOutput<typeof StatementRequest>

export const reconciliation = {
  name: 'reconciliation',
  summary: 'consistency checks of the table, and comparison with bank statements',
  verbs: {
    run: {
      summary: 'checks a day and prints the differences; changes nothing',
      options: options({ date }),
    },
    statement: {
      summary: 'compares a bank statement with the debits completed on a day; changes nothing',
      options: options({
        bank: bankOption,
        statement: option(
          'FILE',
          'CSV file with uuid or bank_reference, amount, currency, completed_at; -: standard input',
          v.string(),
        ),
        date,
      }),
    },
  },
} as const satisfies Noun
