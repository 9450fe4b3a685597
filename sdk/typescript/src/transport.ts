import {
  ApiError,
  BankUnavailableError,
  DuplicateReferenceError,
  NetworkError,
  RequestTimeoutError,
  ServerError,
} from './errors.ts'
import { hmacSha256, toHex } from './hmac.ts'
import { callHook } from './hook.ts'
import { pause } from './pause.ts'
import { fileIn, parseSuccess, type Reply } from './reply.ts'
import { VERSION } from './version.ts'

export type ClientOptions = {
  /** Key of the provider, `sk_...`, or token of the bank, `bt_...`. */
  apiKey: string
  /** Address of the service, such as `https://api.example.com`. */
  baseUrl: string
  /** Secret of request signatures, for a provider that must sign. */
  signingSecret?: string | undefined
  /** Retries of a request after a failure that permits them (default 3). */
  maxRetries?: number | undefined
  /** Milliseconds for one attempt (default 30,000). */
  timeout?: number | undefined
  /** Milliseconds for a call with its retries (default none). A pause that would exceed it ends the call. */
  deadline?: number | undefined
  /** Called after each attempt; its failure is ignored. An entry contains neither secrets nor personal data. */
  log?: ((entry: LogEntry) => void) | undefined
  fetch?: typeof fetch | undefined
}

export type CallOptions = {
  signal?: AbortSignal | undefined
  /** Milliseconds for one attempt. */
  timeout?: number | undefined
}

/** `startedAt` is the start of the whole call, by `performance.now()`. */
export type SendOptions = CallOptions & { startedAt?: number }

export type LogEntry = {
  operation: string
  method: string
  /** The template of the path, without values. */
  path: string
  /** From 1. */
  attempt: number
  /** Milliseconds. */
  duration: number
  status?: number | undefined
  requestId?: string | undefined
  /** Name of the error, if the attempt failed. */
  error?: string | undefined
}

export type Request = {
  operation: string
  method: 'GET' | 'POST'
  /** Template below the path of the transport; `{name}` is replaced by the value in `params`. */
  path: string
  params?: Record<string, string | number>
  query?: Record<string, string | number | null | undefined>
  body?: unknown
  /** The service can redirect to the reply in a bucket. */
  isFile?: boolean
}

export type Transport = ReturnType<typeof openTransport>

const PROVIDERS = '/api/v1/payment-providers'

/** Milliseconds. A longer Retry-After ends the call. */
const LONGEST_PAUSE = 60_000
/** The customer can choose another bank instead of a longer wait. */
const LONGEST_PAUSE_OF_BANK = 4_000

/** Sends requests, and retries after failures that permit it (docs/errors.md#idempotency). */
export const openTransport = (options: ClientOptions, below = PROVIDERS) => {
  checkOptions(options)
  const base = addressOf(options.baseUrl) + below
  const { maxRetries = 3, fetch: send = fetch } = options

  const attempt = async (request: Request, call: SendOptions, endsAt: number): Promise<Reply> => {
    const url = new URL(base + targetOf(request))
    const body = request.body === undefined ? '' : JSON.stringify(request.body)
    const headers = await headersOf(request.method, url, body, options)
    const remaining = Math.max(0, endsAt - performance.now())
    const longest = Math.min(call.timeout ?? options.timeout ?? 30_000, remaining)
    // Node refuses a fraction.
    const limit = AbortSignal.timeout(Math.ceil(longest))
    const signal = call.signal ? AbortSignal.any([call.signal, limit]) : limit
    const init = { method: request.method, headers, body: body || null, signal }
    try {
      const response = await send(url, { ...init, redirect: 'manual' })
      const isElsewhere = request.isFile && response.status === 303
      const location = isElsewhere ? response.headers.get('location') : null
      // A connection stays open until its reply is read.
      if (location) await response.text()
      // A large report is in a bucket, which must not get the key.
      const stored = location ? await send(new URL(location, url), { signal }) : undefined
      if (stored?.ok) return await fileIn(stored)
      return await parseSuccess(stored ?? response, request.query?.format)
    } catch (cause) {
      if (cause instanceof ApiError) throw cause
      if (limit.aborted) throw new RequestTimeoutError('No complete reply in time', { cause })
      throw new NetworkError(`The connection failed${reasonOf(cause)}`, { cause })
    }
  }

  /** Sends a request. @throws ApiError, NetworkError or RequestTimeoutError of the last attempt */
  return async (request: Request, call: SendOptions = {}): Promise<Reply> => {
    const { operation, method, path } = request
    const endsAt = (call.startedAt ?? performance.now()) + (options.deadline ?? Infinity)
    let mayExist = false
    for (let number = 1; ; number += 1) {
      const startedAt = performance.now()
      const result = await attempt(request, call, endsAt).catch(failureIn)
      const { status, requestId } = result instanceof NetworkError ? {} : result
      const entry: LogEntry = {
        operation,
        method,
        path: below + path,
        attempt: number,
        duration: Math.round(performance.now() - startedAt),
        status,
        requestId,
        error: result instanceof Error ? failureName(result, call) : undefined,
      }
      if (options.log) callHook(options.log.bind(options), entry)
      if (!(result instanceof Error)) return result
      if (result instanceof NetworkError) call.signal?.throwIfAborted()
      mayExist ||= !isRefusal(result)
      Object.assign(result, { attempts: number, mayExist })
      const delay = delayAfter(result)
      if (number > maxRetries || delay === undefined) throw result
      if (performance.now() + delay >= endsAt) throw result
      await pause(delay, call.signal)
    }
  }
}

/** @throws TypeError for an option that would fail later, in the middle of a call */
const checkOptions = (options: ClientOptions): void => {
  const { apiKey, signingSecret, maxRetries = 0, timeout, deadline } = options
  // A malformed header value would appear in the error of fetch.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey must be printable text without blanks')
  if (signingSecret === '') throw new TypeError('signingSecret must not be empty')
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw new TypeError('maxRetries must be a whole number from 0')
  for (const [name, limit] of Object.entries({ timeout, deadline })) {
    const isLimit = limit == null || (Number.isFinite(limit) && limit > 0)
    if (!isLimit) throw new TypeError(`${name} must be milliseconds above 0`)
  }
}

/** @throws TypeError for an address that would change the path of a request */
const addressOf = (baseUrl: string): string => {
  const { href, origin, pathname } = new URL(baseUrl)
  if (href !== origin + pathname)
    throw new TypeError('baseUrl must be https://host or a path below')
  return href.replace(/\/+$/, '')
}

type Failure = ApiError | NetworkError

/** Reports whether the attempt neither created a debit nor found an existing one. */
const isRefusal = (failure: Failure): boolean =>
  failure instanceof ApiError &&
  failure.status !== 408 &&
  !(failure instanceof ServerError || failure instanceof DuplicateReferenceError)

/** Returns the failure of an attempt, and rethrows other errors. */
const failureIn = (error: unknown): Failure => {
  if (error instanceof ApiError || error instanceof NetworkError) return error
  throw error
}

const failureName = (failure: Failure, { signal }: CallOptions): string =>
  failure instanceof NetworkError && signal?.aborted ? 'AbortError' : failure.name

/** Returns path and query. @throws TypeError for a value that would change the path */
const targetOf = ({ path, params = {}, query = {} }: Request): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? '')
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} is missing`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value != null) search.set(name, String(value))
  }
  return search.size === 0 ? filled : `${filled}?${search}`
}

/** Returns the reason that Node nests in the error of fetch. */
const reasonOf = (error: unknown): string => {
  const { message, code } = ((error as Error).cause ?? {}) as { message?: string; code?: string }
  const reason = message || code
  return reason ? `: ${reason}` : ''
}

const headersOf = async (
  method: string,
  url: URL,
  body: string,
  { apiKey, signingSecret }: ClientOptions,
): Promise<Headers> => {
  const headers = new Headers({
    accept: 'application/json, text/csv, text/html',
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'user-agent': `debit-collection-typescript/${VERSION}`,
  })
  if (signingSecret) {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const message = method + url.pathname + url.search + timestamp + body
    headers.set('x-timestamp', timestamp)
    headers.set('x-signature', toHex(await hmacSha256(signingSecret, message)))
  }
  return headers
}

/** Returns the milliseconds until a retry, or undefined if the failure does not permit one. */
const delayAfter = (error: Failure): number | undefined => {
  const { status, retryAfter = 0 } = error instanceof ApiError ? error : {}
  if (status !== undefined && status < 500 && status !== 408 && status !== 429) return undefined
  const backoff = Math.min(LONGEST_PAUSE, 1000 * 2 ** (error.attempts - 1))
  const longest = error instanceof BankUnavailableError ? LONGEST_PAUSE_OF_BANK : LONGEST_PAUSE
  if (retryAfter * 1000 > longest) return undefined
  return Math.max(retryAfter * 1000, backoff * (0.5 + Math.random() / 2))
}
