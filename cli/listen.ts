import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { fail } from './fail.ts'
import { formatLine, readEvent } from './listener/event.ts'
import { newSequenceTracker } from './listener/sequence-tracker.ts'
import { verify } from './listener/verify.ts'

/** `npm run -s listen -- [options]`: runs a local receiver that prints each webhook. */

const USAGE =
  'usage: npm run -s listen -- [--port 4242] [--secret whsec_...] [--fail STATUS [--times 1]]'

const HOST = '127.0.0.1'
const BODY_MAX_BYTES = 1024 * 1024
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const parseNumber = (text: string, { min, max }: { min: number; max: number }): number =>
  /^[0-9]{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max
    ? Number(text)
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
    port: parseNumber(port, { min: 0, max: 65_535 }),
    secret,
    failureStatus: status === undefined ? 0 : parseNumber(status, { min: 300, max: 599 }),
    failureCount: status === undefined ? 0 : parseNumber(times ?? '1', { min: 1, max: 999_999 }),
  }
}

/** Reads the body to its end, also above the limit, so that the sender gets a response. */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= BODY_MAX_BYTES) chunks.push(chunk)
  }
  return length <= BODY_MAX_BYTES ? Buffer.concat(chunks) : undefined
}

const { port, secret, failureStatus, failureCount } = readArguments()
const track = newSequenceTracker()
let remainingFailures = failureCount

const receive = async (request: IncomingMessage): Promise<number> => {
  const body = await readBody(request)
  if (request.method !== 'POST') return 405
  if (!body) return 413
  const now = new Date()
  const event = readEvent(body)
  const problem =
    secret === undefined ? undefined : verify({ headers: request.headers, body }, secret, now)
  // Forged events must not change the tracked sequences.
  const tracked = event && !problem ? track(event) : { notes: [] }
  const status = remainingFailures-- > 0 ? failureStatus : problem ? 401 : 204
  print(formatLine(event, now, { problem, isVerified: secret !== undefined, status, ...tracked }))
  return status
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
