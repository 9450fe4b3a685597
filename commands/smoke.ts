import { isStageName } from '../infra/definitions/resource-name.ts'
import { printable } from '../shared/domain/text.ts'
import { eventually, Mismatch } from './expect.ts'
import { InvocationFailure } from './functions-client.ts'
import { isAllowed } from './operator-client.ts'
import { newApi } from './smoke/api.ts'
import type { RunCheck, Smoke, Within } from './smoke/checks.ts'
import { checkDebits } from './smoke/debits.ts'
import { cleanUp, createObjects, type Undo } from './smoke/objects.ts'
import { startReceiver } from './smoke/receiver.ts'
import { checkReplyForm, checkRequests } from './smoke/requests.ts'
import { checkReconciliation } from './smoke/settlement.ts'
import { deployedApi, operatorCommandOf, operatorOf, withoutSlash } from './smoke/target.ts'
import { portIn, readArguments } from './terminal/arguments.ts'
import { onStopSignal } from './terminal/stop-signal.ts'

/** Verifies a deployed stage or a sandbox, and removes what it created (docs/deployment.md#smoke-test). */

/** Longer than any run. */
const CREDENTIAL_MS = 30 * 60_000

const { values, positionals, refuse } = await readArguments({
  name: 'smoke',
  form: '--stage NAME --unpaused | --stage NAME|--port N [--api URL] [--receiver] [--keep]',
  summary:
    'Checks a stage or a sandbox, and removes what it created (docs/deployment.md#smoke-test).\n' +
    'With --unpaused only checks, before a release, that the stage is not paused.',
  options: {
    stage: { type: 'string' },
    port: { type: 'string' },
    api: { type: 'string' },
    receiver: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    unpaused: { type: 'boolean', default: false },
  },
})

const targetIn = ({ stage, port, api, receiver, unpaused }: typeof values) => {
  if (api !== undefined && !/^https?:\/\/[^?#]+$/.test(api)) return refuse('--api: must be a URL')
  if (port !== undefined && stage === undefined && !unpaused) {
    const number = portIn(port, refuse)
    const target = { port: number }
    return { target, apiOption: api ?? `http://127.0.0.1:${number}`, hasReceiver: true }
  }
  if (port !== undefined || !isStageName(stage ?? '')) return refuse()
  return { target: { stage: stage as string }, apiOption: api, hasReceiver: receiver }
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const reasonOf = (error: unknown): string => {
  if (error instanceof Mismatch) return error.message
  const { name, message } = error as Error
  const text = error instanceof InvocationFailure ? message : `${name}: ${message}`
  return `expected a result, got ${printable(text)}`
}

if (positionals.length > 0) refuse()
const { keep } = values
const { target, apiOption, hasReceiver } = targetIn(values)
const since = new Date()
const interruption = new AbortController()
const { signal } = interruption
onStopSignal(() => interruption.abort())

let checked = 0
let failed = 0

const report = (name: string, error?: unknown): void => {
  checked += 1
  if (error !== undefined) failed += 1
  print(error === undefined ? `ok ${name}` : `FAIL ${name}: ${reasonOf(error)}`)
}

/** An interruption skips the checks that remain. */
const check: RunCheck = async (name, run) => {
  try {
    if (!signal.aborted) {
      const result = await run()
      report(name)
      return () => result
    }
  } catch (error) {
    if (!signal.aborted) report(name, error)
  }
  return () => {
    throw new Mismatch(`the result of ${name}`, 'none: it failed')
  }
}

const undo: Undo = new Map()
const receiver = hasReceiver ? await startReceiver() : undefined
const stage = 'stage' in target ? target.stage : undefined
// The clock of a sandbox can be ahead.
const expiresOn =
  stage === undefined || keep ? undefined : new Date(Date.now() + CREDENTIAL_MS).toISOString()
// Loaded for stages only: a sandbox has no logs or queues to read.
const aws = stage === undefined ? undefined : await import('./smoke/aws.ts')

const runChecks = async (): Promise<void> => {
  const isOver = () => failed > 0 || signal.aborted
  if (aws && stage)
    await (values.unpaused ? aws.checkUnpaused : aws.checkEventSources)(check, stage)
  if (isOver() || values.unpaused) return
  const getAddress = await check('api-address', async () => {
    if (apiOption !== undefined) return withoutSlash(apiOption)
    const { address, version } = await deployedApi(stage ?? '')
    if (version) print(`version ${version}`)
    return address
  })
  if (isOver()) return
  const operator = operatorOf(target)
  const command = operatorCommandOf(target)
  const getObjects = await check('objects', async () => {
    const mayDeny = stage === undefined || (await isAllowed(stage, 'approval'))
    return createObjects({ operator, command, receiver, undo, expiresOn, mayDeny })
  })
  if (isOver()) return
  const api = newApi(getAddress(), signal)
  const objects = getObjects()
  const within: Within = (seconds, attempt) => eventually(attempt, { seconds, signal })
  const smoke: Smoke = { check, within, api, operator, objects, receiver }
  await Promise.all([
    checkRequests(smoke),
    objects.movesMoney && checkDebits(smoke),
    aws && stage && aws.checkSweep(check, { stage, since, signal }),
    aws && stage && aws.checkSubscriptions(check, stage),
  ])
  await checkReplyForm(check, api)
  await checkReconciliation(check, objects, command, api.now())
  if (aws && stage) await aws.checkFaults(check, { stage, since, signal })
}

await runChecks()
await receiver?.stop()
if (signal.aborted) report('run', new Mismatch('the end of the test', 'an interruption'))
if (keep) for (const object of undo.keys()) print(`kept ${object}`)
else if (undo.size > 0) report('cleanup', await cleanUp(undo))
print(failed === 0 ? `${checked} checks hold` : `${failed} of ${checked} checks failed`)
process.exit(failed === 0 ? 0 : 1)
