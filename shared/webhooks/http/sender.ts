import type { Client, Dispatcher } from 'undici'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { DAY_SECONDS } from '../../domain/time.ts'
import type { FailureCause, Outcome } from '../../domain/webhooks/attempt.ts'
import { type PhaseTimer, phaseTimer } from '../../runtime.ts'
import { keep, openConnection, takeIdle } from './connection.ts'
import type { Network } from './network.ts'
import { type Rules, strict, targetOf } from './target.ts'

/** The most of a response that is read and stored. */
const BODY_MAX_BYTES = 4 * 1024

/** The most interim responses (1xx) of one attempt; some proxies send 102 or 103. */
const INTERIM_RESPONSES_MAX = 16

/** The schedule of a delivery has a smaller maximum. */
const RETRY_AFTER_MAX_SECONDS = DAY_SECONDS

export type PostRequest = {
  /** The request uses only connections of this provider. */
  provider: ProviderId
  url: string
  headers: Record<string, string>
  body: string
  timeoutSeconds: number
  connectionTimeoutSeconds: number
  signal?: AbortSignal
  /** Called when the status has arrived; the body can follow slowly. */
  onResponse?: () => void
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
    const { provider, url, timeoutSeconds, connectionTimeoutSeconds, signal, onResponse } = request
    const connecting = new AbortController()
    const limit: Limit = { end: () => connecting.abort() }
    const end = () => limit.end()
    const timer = phaseTimer(timeoutSeconds * 1000, end)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    try {
      // Covers DNS and the connection.
      timer.startPhase(connectionTimeoutSeconds * 1000)
      const target = await targetOf(url, { network, rules, signal: connecting.signal })
      if ('cause' in target) return unreached(target.cause, null)
      const connection =
        takeIdle(provider, target) ?? (await openConnection(provider, target, connecting.signal))
      if ('cause' in connection) return unreached(connection.cause, connection.address)
      const { outcome, isComplete } = await exchange(connection.client, {
        request: requestTo(target.url, request),
        bodyMilliseconds: bodySeconds * 1000,
        timer,
        limit,
        signal,
        onResponse,
      })
      await (isComplete ? keep(connection) : connection.client.destroy())
      return { outcome, address: connection.address }
    } finally {
      timer.stop()
      signal?.removeEventListener('abort', end)
    }
  }

export const post = sender(strict, { bodySeconds: 1 })

/** `end` is called at a limit of time, or when the caller aborts. */
type Limit = { end: () => void }

const unreached = (
  cause: Exclude<FailureCause, 'status' | 'redirect'>,
  address: string | null,
): SendResult => ({ outcome: { kind: 'unreached', cause }, address })

const requestTo = (
  { pathname, search }: URL,
  { headers, body }: PostRequest,
): Dispatcher.DispatchOptions => ({
  method: 'POST',
  path: pathname + search,
  headers: {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'debit-collection-webhooks/1',
    ...headers,
  },
  body,
})

type Exchange = {
  request: Dispatcher.DispatchOptions
  bodyMilliseconds: number
  timer: PhaseTimer
  limit: Limit
  signal: AbortSignal | undefined
  onResponse: (() => void) | undefined
}

/**
 * Sends a request and reads the start of the response. The status decides the outcome, so a slow or
 * broken body is cut. `isComplete`: the connection can be kept.
 */
const exchange = (
  client: Client,
  { request, bodyMilliseconds, timer, limit, signal, onResponse }: Exchange,
): Promise<{ outcome: Outcome; isComplete: boolean }> => {
  const { promise, resolve } = Promise.withResolvers<{ outcome: Outcome; isComplete: boolean }>()
  const parts: Buffer[] = []
  let length = 0
  let interim = 0
  let head: { code: number; retryAfterSeconds?: number } | undefined
  // The first end decides: a promise ignores later ones.
  const end = (cause: 'read_timeout' | 'broken', isComplete = false): void => {
    const outcome: Outcome = head
      ? { kind: 'answered', ...head, body: textOf(parts) }
      : { kind: 'unreached', cause }
    resolve({ outcome, isComplete })
  }
  limit.end = () => end('read_timeout')
  if (signal?.aborted) {
    end('read_timeout')
    return promise
  }
  timer.startPhase()
  client.dispatch(request, {
    onRequestStart: () => undefined,
    onResponseStart: (_, code, headers) => {
      if (code < 200) {
        interim += 1
        if (interim > INTERIM_RESPONSES_MAX) end('broken')
        return
      }
      const retryAfterSeconds = retryAfter(headers['retry-after'])
      head = { code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
      timer.startPhase(bodyMilliseconds)
      onResponse?.()
    },
    onResponseData: (_, part) => {
      // One read of the socket can have thousands of chunks.
      if (length >= BODY_MAX_BYTES) return
      parts.push(part)
      length += part.length
      if (length >= BODY_MAX_BYTES) end('broken')
    },
    onResponseEnd: () => end('broken', true),
    onResponseError: () => end('broken'),
  })
  return promise
}

const textOf = (parts: readonly Buffer[]): string =>
  parts.length === 0 ? '' : Buffer.concat(parts).toString('utf8', 0, BODY_MAX_BYTES)

/** Parses seconds only: a date would depend on the receiver's clock. */
const retryAfter = (value: string | string[] | undefined): number | undefined =>
  typeof value === 'string' && /^[0-9]+$/.test(value)
    ? Math.min(Number(value), RETRY_AFTER_MAX_SECONDS)
    : undefined
