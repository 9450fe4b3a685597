import * as v from 'valibot'
import { StartFailure } from '../sandbox/start-failure.ts'
import { Day, dayOf } from '../shared/domain/time.ts'
import { checkBooks } from './restore-check/check.ts'
import { callersPath, readArguments, wholeNumberIn } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'

/** `debit restore-check`: rebuilds the books from a copy, and checks them (docs/restore.md#lake). */

const { values, refuse } = await readArguments({
  name: 'restore-check',
  form: '--from DIR [--on DAY] [--days N]',
  summary:
    'Rebuilds debits, ledger and batches in memory from a copy of the buckets of a stage, and checks them\n' +
    '(docs/restore.md#lake). DIR has the folders lake, audit and reports. The copy must reach into the\n' +
    'UTC day --on (default today); the --days before it (default 35) are reconciled.',
  options: {
    from: { type: 'string' },
    on: { type: 'string', default: dayOf(new Date()) },
    days: { type: 'string', default: '35' },
  },
})

const on = v.safeParse(Day, values.on)
const copy = {
  folder: callersPath(values.from ?? refuse()),
  on: on.success ? on.output : refuse('--on: must be a day'),
  days: wholeNumberIn('days', values.days, refuse),
}

try {
  for await (const { name, problems } of checkBooks(copy)) {
    if (problems.length > 0) process.exitCode = 1
    const lines =
      problems.length > 0 ? problems.map((one) => `FAIL ${name}: ${one}`) : [`ok ${name}`]
    process.stdout.write(`${lines.join('\n')}\n`)
  }
} catch (error) {
  if (!(error instanceof StartFailure)) throw error
  fail(error.message)
}
