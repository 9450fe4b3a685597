import { parseArgs } from 'node:util'
import { welcome } from './console.ts'
import { endpointsIn } from './endpoints.ts'
import { type Sandbox, startSandbox } from './sandbox.ts'
import { StartFailure } from './start-failure.ts'

/** Starts the sandbox on local backends, or with AWS_ENDPOINT_URL on a running emulator. */

const USAGE = 'usage: npm run sandbox -- [--port 3000] [--time-scale N] [--approvals]'

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const fail = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}

const readArguments = () => {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '3000' },
        'time-scale': { type: 'string', default: '1' },
        approvals: { type: 'boolean', default: false },
      },
    })
    const { port, 'time-scale': timeScale, approvals } = values
    return { port: Number(port), timeScale: Number(timeScale), approvals }
  } catch {
    return fail(USAGE)
  }
}

const { port, timeScale, approvals } = readArguments()
if (!Number.isInteger(port) || port < 0 || port > 65_535 || !(timeScale > 0)) fail(USAGE)

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

let sandbox: Promise<Sandbox> | undefined

const stopOnce = async (): Promise<never> => {
  for (const signal of STOP_SIGNALS) {
    process.removeAllListeners(signal)
    // A second signal exits at once.
    process.on(signal, () => process.exit(1))
  }
  await sandbox?.then(
    (started) => started.stop(),
    () => undefined,
  )
  process.exit(0)
}
for (const signal of STOP_SIGNALS) process.on(signal, stopOnce)

try {
  sandbox = startSandbox({ port, timeScale, approvals, print, endpoints: endpointsIn(process.env) })
  const { address } = await sandbox
  print(welcome(address, timeScale))
  print(`ready ${address}`)
} catch (error) {
  fail(error instanceof StartFailure ? error.message : String((error as Error).stack))
}
