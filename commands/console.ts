import { isStageName } from '../infra/definitions/resource-name.ts'
import { openConsole } from './console-server.ts'
import { portIn, readArguments } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'
import { onStopSignal } from './terminal/stop-signal.ts'

/** `debit console --stage NAME`: serves the console of a stage on this machine. */

const { values, refuse } = await readArguments({
  name: 'console',
  form: '--stage NAME [--port 3100]',
  summary: 'Serves the console of a stage on this machine, with the AWS credentials of the shell.',
  options: { stage: { type: 'string', default: '' }, port: { type: 'string', default: '3100' } },
})
const { stage } = values
if (!isStageName(stage)) refuse("--stage: must be a stage's name")
onStopSignal(() => process.exit(0))
try {
  const { address } = await openConsole(stage, portIn(values.port, refuse, 0))
  process.stdout.write(`ready ${address}\n`)
} catch (error) {
  fail((error as Error).message)
}
