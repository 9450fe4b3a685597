import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { listenAt, readBody } from '../sandbox/local-server.ts'
import { parseJson } from '../shared/domain/json.ts'
import { eventTypes } from '../shared/domain/webhooks/event-type.ts'
import { formatLine, readEvent } from './listener/event.ts'
import { type Forwarded, forward } from './listener/forward.ts'
import { prepare } from './listener/registration.ts'
import { newSequenceTracker } from './listener/sequence-tracker.ts'
import { verify } from './listener/verify.ts'
import { portIn, readArguments, unknownWord } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'
import { onStopSignal } from './terminal/stop-signal.ts'

/** `debit listen`: runs a local receiver that verifies and prints each webhook. */

const BODY_MAX_BYTES = 1024 * 1024

const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/** Prints a line that is no event; with --json standard output has events only. */
const note = (text: string): void => {
  const stream = values.json ? process.stderr : process.stdout
  stream.write(`${text}\n`)
}

const { values, positionals, refuse } = await readArguments({
  name: 'listen',
  form:
    '[--port 4242] [--register PROVIDER [--sandbox 3000] | --secret whsec_...] [--events EVENT,...] ' +
    '[--print | --json] [--forward-to URL] [--slow SECONDS] [--fail STATUS [--times 1]]',
  summary:
    'Receives webhooks: verifies them, marks duplicates and late events, and prints a line for each.\n' +
    '--register directs the webhook of a provider in a sandbox here, until the command ends.\n' +
    'It replaces the secret of an existing webhook and does not restore it.\n' +
    '--print shows the bodies, --json prints a JSON object for each event, --forward-to sends each\n' +
    'event on to a receiver of your own and answers as it does.',
  options: {
    port: { type: 'string', default: '4242' },
    secret: { type: 'string' },
    register: { type: 'string' },
    sandbox: { type: 'string', default: '3000' },
    events: { type: 'string' },
    print: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    'forward-to': { type: 'string' },
    slow: { type: 'string', default: '0' },
    fail: { type: 'string' },
    times: { type: 'string' },
  },
})

const numberIn = (
  text: string,
  { min, max }: { min: number; max: number },
  name: string,
): number =>
  /^[0-9]{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max
    ? Number(text)
    : refuse(`--${name}: must be a number from ${min} to ${max}`)

const published: string[] = Object.values(eventTypes).map(({ event }) => event)

/** Parses `failed,completed` or `transaction.failed`. */
const eventsIn = async (text: string): Promise<string[]> => {
  const events = text.split(',').map((word) => (word.includes('.') ? word : `transaction.${word}`))
  const unknown = events.find((event) => !published.includes(event))
  return unknown === undefined ? events : refuse(await unknownWord('event', unknown, published))
}

if (positionals.length > 0) refuse()
if (values.secret !== undefined && !/^whsec_./.test(values.secret)) {
  refuse('--secret: must be the secret of a webhook, whsec_...')
}
if (values.secret && values.register) refuse('--secret, --register: only one of them is allowed')
if (values.times !== undefined && values.fail === undefined) refuse('--times: requires --fail')
const port = portIn(values.port, refuse, 0)
const sandboxPort = portIn(values.sandbox, refuse, 1, 'sandbox')
const target = values['forward-to']
if (target !== undefined && !(/^https?:/.test(target) && URL.canParse(target))) {
  refuse('--forward-to: must be a URL with http or https')
}
const events = values.events === undefined ? undefined : await eventsIn(values.events)
const slowSeconds = numberIn(values.slow, { min: 0, max: 120 }, 'slow')
const failureStatus = numberIn(values.fail ?? '500', { min: 300, max: 599 }, 'fail')
let remainingFailures =
  values.fail === undefined ? 0 : numberIn(values.times ?? '1', { min: 1, max: 999_999 }, 'times')

let { secret } = values
const track = newSequenceTracker()

const statusOf = (problem: string | undefined, forwarded: Forwarded | undefined): number => {
  if (remainingFailures > 0) {
    remainingFailures -= 1
    return failureStatus
  }
  return problem ? 401 : (forwarded?.status ?? 204)
}

const receive = async (request: IncomingMessage, response: ServerResponse): Promise<number> => {
  const body = await readBody(request, BODY_MAX_BYTES)
  if (request.method !== 'POST') return 405
  if (!body) return 413
  const now = new Date()
  const { headers } = request
  const event = readEvent(body)
  const type = event?.event.replace(/^debit_request\./, 'transaction.')
  if (type && events && type !== 'ping' && !events.includes(type)) return 204
  const problem = secret === undefined ? undefined : await verify({ headers, body }, secret, now)
  // Forged events must not change the tracked sequences.
  const tracked = event && !problem ? track(event) : { notes: [] }
  if (slowSeconds > 0) await pause(slowSeconds * 1_000)
  const isForwarded = target !== undefined && !problem && remainingFailures === 0
  const forwarded = isForwarded ? await forward(target, headers, body) : undefined
  if (forwarded?.retryAfter) response.setHeader('retry-after', forwarded.retryAfter)
  const status = statusOf(problem, forwarded)
  const isVerified = secret !== undefined
  if (values.json) {
    const payload = parseJson(body.toString('utf8')) ?? body.toString('base64')
    const verified = isVerified && !problem
    const shown = { status, forwarded: forwarded && { ...forwarded, retryAfter: undefined } }
    print(JSON.stringify({ at: now, verified, problem, ...tracked, ...shown, payload }))
    return status
  }
  print(formatLine(event, now, { problem, isVerified, status, ...tracked }))
  if (forwarded) {
    print(`  -> ${forwarded.status} in ${forwarded.milliseconds} ms  ${forwarded.text}`.trimEnd())
  }
  if (values.print && event) print(JSON.stringify(parseJson(body.toString('utf8')), null, 2))
  return status
}

const server = createServer((request, response) => {
  receive(request, response).then(
    (status) => response.writeHead(status).end(),
    // The sender has disconnected.
    () => response.destroy(),
  )
})

const failWith = ({ message }: Error): never => fail(message)

let restore = async (): Promise<void> => undefined
onStopSignal(async () => {
  await restore().catch(failWith)
  process.exit(0)
})

const url = `http://127.0.0.1:${await listenAt(server, port).catch(failWith)}`
if (values.register !== undefined) {
  const registration = { provider: values.register, url: `${url}/webhooks`, events }
  const prepared = await prepare(sandboxPort, registration).catch(failWith)
  const registering = prepared.register()
  // Assigned before the calls end: the listener can end after the first of two.
  restore = async () => {
    const registered = await registering.catch(() => undefined)
    await prepared.restore()
    if (registered?.isReplaced)
      note(`restored ${values.register}  its webhook keeps the new secret ${registered.secret}`)
  }
  const registered = await registering.catch(async (error) => {
    await restore().catch(() => undefined)
    return failWith(error)
  })
  secret = registered.secret
  note(`registered ${values.register}  secret ${secret}`)
}
note(`listening ${url}`)
