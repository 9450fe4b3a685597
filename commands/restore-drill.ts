import { isStageName } from '../infra/definitions/resource-name.ts'
import { StartFailure } from '../sandbox/start-failure.ts'
import { removeCopies, runDrill } from './restore-drill/drill.ts'
import { readArguments, wholeNumberIn } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'
import { onStopSignal } from './terminal/stop-signal.ts'

/** `debit restore-drill`: rehearses the restore of a stage's table (docs/restore.md#drill). */

const { values, refuse } = await readArguments({
  name: 'restore-drill',
  form: '--stage NAME [--at TIME] [--days N] [--remove]',
  summary:
    'Restores the table of a stage at a second (--at, ISO 8601, default the latest) to a copy next to it,\n' +
    'reconciles --days of it (default 7), prints each invariant and the time, and removes the copy, also\n' +
    'after Ctrl-C. The stage is neither paused nor changed. --remove removes what a killed drill has left.',
  options: {
    stage: { type: 'string', default: '' },
    at: { type: 'string' },
    days: { type: 'string', default: '7' },
    remove: { type: 'boolean', default: false },
  },
})

const { stage, at } = values
if (!isStageName(stage)) refuse()
const time = at === undefined ? undefined : new Date(at)
if (time && (Number.isNaN(time.getTime()) || !/Z$/.test(at ?? '')))
  refuse('--at: must be a time that ends with Z')
const days = wholeNumberIn('days', values.days, refuse)

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const interruption = new AbortController()
const { signal } = interruption
onStopSignal(
  () => {
    print('interrupted: waits until the copy can be removed; a second signal leaves it')
    interruption.abort()
  },
  () => fail(`The copy is left: debit restore-drill --stage ${stage} --remove`),
)

try {
  if (values.remove) await removeCopies(stage, print)
  else if (!(await runDrill({ stage, at: time, days, signal, print }))) process.exitCode = 1
} catch (error) {
  if (!signal.aborted && !(error instanceof StartFailure)) throw error
  fail(signal.aborted ? 'The drill was interrupted' : (error as Error).message)
}
