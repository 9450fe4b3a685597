import { Mismatch } from './expect.ts'
import { InvocationFailure } from './functions-client.ts'
import { newApi } from './smoke/api.ts'
import type { CheckDeps, CheckSequence } from './smoke/checks.ts'
import { debitChecks } from './smoke/debits.ts'
import { cleanUp, createObjects, type Undo } from './smoke/objects.ts'
import { startReceiver } from './smoke/receiver.ts'
import { replyFormChecks, requestChecks } from './smoke/requests.ts'
import { reconciliationChecks } from './smoke/settlement.ts'
import { apiAddressOf, operatorCommandOf, operatorOf, withoutSlash } from './smoke/target.ts'
import { portIn, readArguments } from './terminal/arguments.ts'

/** Verifies a deployed stage or a sandbox, and removes what it created (docs/operations.md#smoke-test). */

/** Longer than any run. */
const CREDENTIAL_MS = 30 * 60_000

const { values, refuse } = await readArguments({
  name: 'smoke',
  form: '--stage NAME | --port N [--api URL] [--receiver] [--keep]',
  summary:
    'Checks a stage or a sandbox, and removes what it created (docs/operations.md#smoke-test).',
  options: {
    stage: { type: 'string' },
    port: { type: 'string' },
    api: { type: 'string' },
    receiver: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})

const targetIn = ({ stage, port, api, receiver }: typeof values) => {
  if (api !== undefined && !/^https?:\/\/[^?#]+$/.test(api)) return refuse('--api: must be a URL')
  if (port !== undefined && stage === undefined) {
    const number = portIn(port, refuse)
    const target = { port: number }
    return { target, apiOption: api ?? `http://127.0.0.1:${number}`, hasReceiver: true }
  }
  if (port !== undefined || !/^[a-z][a-z0-9-]{0,19}$/.test(stage ?? '')) return refuse()
  return { target: { stage: stage as string }, apiOption: api, hasReceiver: receiver }
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const reasonOf = (error: unknown): string => {
  if (error instanceof Mismatch) return error.message
  const { name, message } = error as Error
  const text = error instanceof InvocationFailure ? message : `${name}: ${message}`
  return `expected a result, got ${text.replaceAll(/\s+/g, ' ')}`
}

const { keep } = values
const { target, apiOption, hasReceiver } = targetIn(values)
const since = new Date()
const interruption = new AbortController()
const { signal } = interruption
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    // A second signal exits at once.
    if (signal.aborted) process.exit(1)
    interruption.abort()
  })
}

let checked = 0
let failed = 0

const report = (name: string, error?: unknown): void => {
  checked += 1
  if (error !== undefined) failed += 1
  print(error === undefined ? `ok ${name}` : `FAIL ${name}: ${reasonOf(error)}`)
}

/** Runs checks one after the other. An interruption skips the remaining ones. */
const runAll = async (checks: CheckSequence): Promise<void> => {
  for (const { name, run } of checks) {
    if (signal.aborted) return
    try {
      await run()
      report(name)
    } catch (error) {
      if (!signal.aborted) report(name, error)
    }
  }
}

/** Runs a check and returns its result, which later checks need. */
const runForResult = async <T>(name: string, run: () => Promise<T>): Promise<T | undefined> => {
  let result: T | undefined
  const store = async () => {
    result = await run()
  }
  await runAll([{ name, run: store }])
  return result
}

const undo: Undo[] = []
const receiver = hasReceiver ? await startReceiver() : undefined
const stage = 'stage' in target ? target.stage : undefined
// The clock of a sandbox can be ahead.
const expiresOn =
  stage === undefined || keep ? undefined : new Date(Date.now() + CREDENTIAL_MS).toISOString()
// Loaded for stages only: a sandbox has no logs or queues to read.
const aws = stage === undefined ? undefined : await import('./smoke/aws.ts')

const runChecks = async (): Promise<void> => {
  if (aws && stage) await runAll(aws.eventSourceChecks(stage))
  if (failed > 0) return
  const address = await runForResult('api-address', async () =>
    withoutSlash(apiOption ?? (await apiAddressOf(stage ?? ''))),
  )
  if (!address) return
  const operator = await operatorOf(target)
  const command = operatorCommandOf(target)
  const objects = await runForResult('objects', () =>
    createObjects({ operator, command, receiver, undo, expiresOn }),
  )
  if (!objects) return
  const deps: CheckDeps = { api: newApi(address, signal), operator, objects, receiver, signal }
  const sequences = [
    requestChecks(deps),
    ...(objects.movesMoney ? debitChecks(deps) : []),
    ...(aws && stage ? [aws.sweepChecks(stage, since, signal)] : []),
  ]
  await Promise.all(sequences.map(runAll))
  await runAll(replyFormChecks(deps))
  await runAll(reconciliationChecks(objects, command, since))
  if (aws && stage) await runAll(aws.faultChecks(stage, since, signal))
}

await runChecks()
receiver?.stop()
if (signal.aborted) report('run', new Mismatch('the end of the test', 'an interruption'))
if (keep) for (const { object } of undo) print(`kept ${object}`)
else if (undo.length > 0) report('cleanup', await cleanUp(undo))
print(failed === 0 ? `${checked} checks hold` : `${failed} of ${checked} checks failed`)
process.exit(failed === 0 ? 0 : 1)
