import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { readEvent } from './listener/event.ts'
import { line } from './listener/line.ts'
import { newSequenceTracker } from './listener/sequence-tracker.ts'
import { verify } from './listener/verify.ts'

/**
 * `npm run -s listen -- [--port 4242] [--secret S] [--fail 500 [--times 2]]`: runs a local receiver
 * that prints each webhook.
 */

const USAGE =
  'usage: npm run -s listen -- [--port 4242] [--secret whsec_...] [--fail STATUS [--times 1]]'

const HOST = '127.0.0.1'
const BODY_MAX_BYTES = 1024 * 1024
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const fail = (text: string): never => {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

/** Parses a whole number or prints the usage. */
const numberOf = (given: string, { min, max }: { min: number; max: number }): number =>
  /^[0-9]{1,6}$/.test(given) && Number(given) >= min && Number(given) <= max
    ? Number(given)
    : fail(USAGE)

const parse = () => {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: '4242' },
        secret: { type: 'string' },
        fail: { type: 'string' },
        times: { type: 'string' },
      },
    }).values
  } catch {
    return fail(USAGE)
  }
}

const readArguments = () => {
  const { port, secret, fail: status, times } = parse()
  if (secret === '' || (times !== undefined && status === undefined)) fail(USAGE)
  return {
    port: numberOf(port, { min: 0, max: 65_535 }),
    secret,
    failure: status === undefined ? 0 : numberOf(status, { min: 300, max: 599 }),
    failures: status === undefined ? 0 : numberOf(times ?? '1', { min: 1, max: 999_999 }),
  }
}

/** Reads the body to its end, also above the limit, so that the sender gets a response. */
const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    if (length <= BODY_MAX_BYTES) parts.push(part)
  }
  return length <= BODY_MAX_BYTES ? Buffer.concat(parts) : undefined
}

const { port, secret, failure, failures } = readArguments()
const journal = newSequenceTracker()
let failuresLeft = failures

/** Prints a request and returns the status of the response. */
const receive = async (request: IncomingMessage): Promise<number> => {
  const raw = await bodyOf(request)
  if (request.method !== 'POST') return 405
  if (!raw) return 413
  const now = new Date()
  const arrival = { headers: request.headers, raw }
  const event = readEvent(arrival)
  const forgery = secret === undefined ? undefined : verify(arrival, secret, now)
  // Forged events must not change the tracked sequences.
  const known = event && !forgery ? journal(event) : { notes: [] }
  const answer = failuresLeft-- > 0 ? failure : forgery ? 401 : 204
  print(line(event, now, { forgery, isChecked: secret !== undefined, answer, ...known }))
  return answer
}

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    // The sender has disconnected.
    () => response.destroy(),
  )
})

server.on('error', (error: NodeJS.ErrnoException) =>
  fail(
    error.code === 'EADDRINUSE'
      ? `Port ${port} is taken; choose another with --port`
      : error.message,
  ),
)
for (const signal of STOP_SIGNALS) process.on(signal, () => process.exit(0))

server.listen(port, HOST, () =>
  print(`listening http://${HOST}:${(server.address() as AddressInfo).port}`),
)
