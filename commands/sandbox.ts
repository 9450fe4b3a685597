import module from 'node:module'
import { callersPath, portIn, readArguments } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'
import { onStopSignal } from './terminal/stop-signal.ts'

/** Starts the sandbox. It imports the rest after its first line, so that it answers at once. */

const { values, positionals, refuse } = await readArguments({
  name: 'sandbox',
  form:
    '[--port 3000] [--data DIR] [--time-scale N] [--approvals] [--bundles] [--host ADDRESS] ' +
    '[--names NAME,...] [--webhook-hosts NAME,...] [--verbose]',
  summary:
    'Runs the service on this machine (docs/sandbox.md). --verbose prints the stack of a fault.',
  options: {
    port: { type: 'string', default: '3000' },
    data: { type: 'string' },
    'time-scale': { type: 'string', default: '1' },
    approvals: { type: 'boolean', default: false },
    bundles: { type: 'boolean', default: false },
    host: { type: 'string', default: '127.0.0.1' },
    names: { type: 'string', default: '' },
    'webhook-hosts': { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
  },
})
if (positionals.length > 0) refuse()
const port = portIn(values.port, refuse, 0)
const timeScale = Number(values['time-scale'])
// With a smaller one, the message that schedules the timeouts has a longer delay than SQS allows.
if (!(timeScale >= 0.3 && Number.isFinite(timeScale)))
  refuse('--time-scale: must be a number of at least 0.3')
const { approvals } = values
// The sandbox and its commands call 127.0.0.1, and "localhost" can be ::1 alone.
const host = values.host === 'localhost' ? '127.0.0.1' : values.host
if (!['127.0.0.1', '0.0.0.0', '::'].includes(host))
  refuse('--host: must be 127.0.0.1, 0.0.0.0 or ::')
if (values.data === '') refuse('--data: must name a folder')
const data = values.data && callersPath(values.data)

const namesIn = (option: 'names' | 'webhook-hosts'): string[] => {
  const names = values[option].toLowerCase().split(',').filter(Boolean)
  const isName = (name: string): boolean => /^(?:[\w.-]+|\[[0-9a-f:.]+\])$/.test(name)
  return names.every(isName) ? names : refuse(`--${option}: must be names like shop, or addresses`)
}
const listening = { host, names: namesIn('names') }
const settings = { data, timeScale, approvals, webhookHosts: namesIn('webhook-hosts') }

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

print('starting')
// The second start takes two thirds of the time. Node 20 has no cache.
module.enableCompileCache?.()

let sandbox: Promise<{ stop: () => Promise<void> }> | undefined

onStopSignal(async () => {
  await sandbox?.then(
    (started) => started.stop(),
    () => undefined,
  )
  process.exit(0)
})

const { StartFailure } = await import('../sandbox/start-failure.ts')
try {
  const { openGateway } = await import('../sandbox/gateway.ts')
  const gateway = await openGateway(port, listening)
  const start = async () => {
    const { startSandbox } = await import('../sandbox/sandbox.ts')
    const { shortenLogs } = await import('../sandbox/faults.ts')
    const { buildForSandbox } = await import('../sandbox/bundles/build.ts')
    const bundleOf = values.bundles ? await buildForSandbox() : undefined
    const onFault = shortenLogs(values.verbose)
    return startSandbox({ gateway, ...settings, print, onFault, bundleOf })
  }
  sandbox = start()
  await sandbox
  const { address } = gateway
  const { welcome } = await import('../sandbox/terminal.ts')
  print(welcome(address, timeScale))
  print(`ready ${address}`)
} catch (error) {
  fail(error instanceof StartFailure ? error.message : String((error as Error).stack))
}
