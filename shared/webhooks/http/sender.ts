import { addAbortSignal } from 'node:stream'
import type { Dispatcher } from 'undici'
import { defined } from '../../domain/defined.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import type { FailureCause, Outcome } from '../../domain/webhooks/attempt.ts'
import { anySignal } from './any-signal.ts'
import { type Connection, connectionTo, keep } from './connection.ts'
import type { Network } from './network.ts'
import { type Rules, strict, targetOf } from './target.ts'

/** The most of a response that is read and stored. */
const BODY_MAX_BYTES = 4 * 1024

/** The most interim responses (1xx) of one attempt; some proxies send 102 or 103. */
const INTERIM_RESPONSES_MAX = 16

/** The schedule of a delivery has a smaller maximum. */
const RETRY_AFTER_MAX_SECONDS = DAY_SECONDS

export type PostRequest = {
  url: string
  headers: Record<string, string>
  body: string
  timeoutSeconds: number
  connectionTimeoutSeconds: number
  signal?: AbortSignal
}

/** `address`: the connected IP address. */
export type SendResult = { outcome: Outcome; address: string | null }

/**
 * Returns a function that makes one attempt at checked addresses, with limits of time and size and
 * without redirects. Every failure is an outcome; it never throws.
 * @param bodySeconds the time for the body after the headers: the status has decided the outcome
 */
export const sender =
  (rules: Rules, { bodySeconds }: { bodySeconds: number }) =>
  async (request: PostRequest, network: Network): Promise<SendResult> => {
    const { limit, connecting, end } = limitsOf(request)
    try {
      const target = await targetOf(request.url, { network, rules, signal: connecting })
      if ('cause' in target) return unreached(target.cause, null)
      const connection = await connectionTo(target, connecting)
      if ('cause' in connection) return unreached(connection.cause, connection.address)
      return await sendOn(connection, { request, url: target.url, limit, bodySeconds })
    } finally {
      end()
    }
  }

export const post = sender(strict, { bodySeconds: 5 })

const timeoutAfter = (seconds: number) => AbortSignal.timeout(Math.ceil(seconds * 1000))

const limitsOf = ({ timeoutSeconds, connectionTimeoutSeconds, signal }: PostRequest) => {
  // Covers the whole attempt: a slow body would never trigger an idle timeout.
  const limit = anySignal(timeoutAfter(timeoutSeconds), ...(signal ? [signal] : []))
  // Covers DNS and the connection.
  const connecting = anySignal(timeoutAfter(connectionTimeoutSeconds), limit.signal)
  const end = (): void => {
    connecting.end()
    limit.end()
  }
  return { limit: limit.signal, connecting: connecting.signal, end }
}

const unreached = (
  cause: Exclude<FailureCause, 'status' | 'redirect'>,
  address: string | null,
): SendResult => ({ outcome: { kind: 'unreached', cause }, address })

type Sending = { request: PostRequest; url: URL; limit: AbortSignal; bodySeconds: number }

const sendOn = async (connection: Connection, sending: Sending): Promise<SendResult> => {
  const { client, address } = connection
  try {
    const response = await client.request(undiciRequest(sending))
    const timeout = timeoutAfter(sending.bodySeconds)
    const { text, isComplete } = await readStart(response.body, timeout)
    await (isComplete ? keep(connection) : client.destroy())
    const retryAfterSeconds = retryAfter(response.headers['retry-after'])
    const outcome: Outcome = {
      kind: 'answered',
      code: response.statusCode,
      body: text,
      ...defined({ retryAfterSeconds }),
    }
    return { outcome, address }
  } catch {
    await client.destroy()
    return unreached(sending.limit.aborted ? 'read_timeout' : 'broken', address)
  }
}

const undiciRequest = ({ request, url, limit }: Sending): Dispatcher.RequestOptions => {
  let interim = 0
  return {
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'debit-collection-webhooks/1',
      ...request.headers,
    },
    body: request.body,
    signal: limit,
    onInfo: () => {
      interim += 1
      if (interim > INTERIM_RESPONSES_MAX) throw new Error('too many interim responses')
    },
  }
}

/** Parses seconds only: a date would depend on the receiver's clock. */
const retryAfter = (value: string | string[] | undefined): number | undefined =>
  typeof value === 'string' && /^[0-9]+$/.test(value)
    ? Math.min(Number(value), RETRY_AFTER_MAX_SECONDS)
    : undefined

/** Reads the start of a body. The status has decided the outcome, so a slow or broken body is cut. */
const readStart = async (body: Dispatcher.ResponseData['body'], timeout: AbortSignal) => {
  const parts: Buffer[] = []
  let length = 0
  let isComplete = false
  try {
    for await (const part of addAbortSignal(timeout, body) as AsyncIterable<Buffer>) {
      parts.push(part)
      length += part.length
      if (length >= BODY_MAX_BYTES) break
    }
    isComplete = length < BODY_MAX_BYTES
  } catch {
    // Keep the part that was read.
  }
  const text = Buffer.concat(parts).subarray(0, BODY_MAX_BYTES).toString('utf8')
  return { text, isComplete }
}
