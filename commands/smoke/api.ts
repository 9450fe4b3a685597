import { createHmac } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { parseJson } from '../../shared/domain/json.ts'
import { expectParts, Mismatch } from '../expect.ts'

/** Calls the published API and checks the form of every reply (docs/api.md#replies). */

export type ApiRequest = {
  /** Without it, a request with a body is POST, another GET. */
  method?: 'POST' | 'DELETE'
  /** From `/api` on, with the query. */
  path: string
  token?: string
  signingSecret?: string
  /** An object is sent as JSON. */
  body?: object | string
  /** Whether API Gateway itself answers, without rate headers. */
  fromGateway?: true
}

type ApiBody = {
  success?: boolean
  data?: unknown
  error?: unknown
  meta?: Record<string, unknown>
}

export type ApiReply = { status: number; headers: Headers; body: ApiBody; text: string }

const PROVIDER = '/api/v1/payment-providers'
const BANK = '/api/v1/banks/debit-transactions'

export const paths = {
  charge: `${PROVIDER}/debit-requests/charge`,
  debits: `${PROVIDER}/debit-requests`,
  debit: (reference: string) => `${PROVIDER}/debit-requests/${reference}`,
  deliveries: (reference: string) => `${PROVIDER}/debit-requests/${reference}/deliveries`,
  redelivery: (id: number) => `${PROVIDER}/deliveries/${id}/redeliver`,
  banks: `${PROVIDER}/banks`,
  ping: `${PROVIDER}/webhook/test`,
  events: `${PROVIDER}/events`,
  settlements: `${PROVIDER}/settlements`,
  bankList: BANK,
  update: (uuid: string) => `${BANK}/${uuid}/update`,
  callback: (uuid: string) => `${BANK}/${uuid}/callback`,
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
const REQUEST_SECONDS = 40

const signatureHeaders = (secret: string, method: string, path: string, body: string) => {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const signed = `${method}${path}${timestamp}${body}`
  const signature = createHmac('sha256', secret).update(signed).digest('hex')
  return { 'X-Timestamp': timestamp, 'X-Signature': signature }
}

export type Api = ReturnType<typeof newApi>

export const newApi = (address: string, signal: AbortSignal) => {
  const problems: string[] = []
  let now = new Date()

  const send = async (request: ApiRequest): Promise<ApiReply> => {
    const { path, token, signingSecret, body: content } = request
    const { method = content === undefined ? 'GET' : 'POST' } = request
    const body = typeof content === 'object' ? JSON.stringify(content) : (content ?? '')
    const response = await fetch(`${address}${path}`, {
      method,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(content !== undefined && { 'Content-Type': 'application/json' }),
        ...(signingSecret && signatureHeaders(signingSecret, method, path, body)),
      },
      ...(content !== undefined && { body }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_SECONDS * 1_000)]),
    }).catch((error: Error) => {
      throw signal.aborted ? error : new Mismatch(`a reply to ${method} ${path}`, causeOf(error))
    })
    const text = await response.text()
    const parsed = parseJson(text)
    const isObject = typeof parsed === 'object' && parsed !== null
    const reply = { status: response.status, headers: response.headers, text }
    const apiReply = { ...reply, body: isObject ? (parsed as ApiBody) : {} }
    const problem = problemOf(apiReply, request)
    const time = apiReply.body.meta?.timestamp
    if (typeof time === 'string' && ISO_TIME.test(time)) now = new Date(time)
    if (problem) problems.push(`${response.status} to ${method} ${path}: ${problem}`)
    return apiReply
  }

  /** @throws Mismatch if the status or a named member of the body differs */
  const expect = async (request: ApiRequest, status: number, body: object = {}) => {
    const reply = await send(request)
    expectReply(reply, status, body)
    return reply
  }

  return {
    send,
    expect,
    /** Returns the data of a reply 200. @throws Mismatch */
    read: async <T>(path: string, token: string): Promise<T> =>
      (await expect({ path, token }, 200)).body.data as T,
    /** Returns the service's time of the newest reply: the clock of a sandbox can be ahead. */
    now: (): Date => now,
    /** Replies without the published form. */
    problems,
  }
}

export const expectReply = (reply: ApiReply, status: number, body: object): void =>
  expectParts({ status: reply.status, ...reply.body }, { status, ...body })

/** Undici has the reason of a failure in `cause`. */
const causeOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? cause.message : message

const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

const problemOf = (
  { status, headers, body }: ApiReply,
  { fromGateway }: ApiRequest,
): string | undefined => {
  const id = headers.get('X-Request-ID')
  if (!id) return 'no X-Request-ID'
  const missing = RATE_HEADERS.find((name) => !/^[0-9]+$/.test(headers.get(name) ?? ''))
  if (missing && !fromGateway) return `no ${missing}`
  if (headers.get('Content-Type')?.startsWith('text/csv')) return undefined
  const { success, error, meta = {} } = body
  if (success !== status < 400) return `success is ${success}`
  const { code, doc_url = `#c${code}` } = (error ?? {}) as { code?: number; doc_url?: string }
  if (!doc_url.endsWith(`#c${code}`)) return `doc_url of ${code} is ${doc_url}`
  if (meta.request_id !== id) return `request_id is ${meta.request_id}, X-Request-ID is ${id}`
  if (meta.api_version !== 'v1') return `api_version is ${meta.api_version}`
  // API Gateway cannot write the time of a reply as a date.
  const isTime = ISO_TIME.test(String(meta.timestamp)) || (fromGateway && meta.timestamp === null)
  return isTime ? undefined : `timestamp is ${meta.timestamp}`
}

/** Finds the element of a list with the given members. @throws Mismatch */
export const findIn = <T>(list: unknown, members: Record<string, unknown>): T => {
  const elements = Array.isArray(list) ? (list as Record<string, unknown>[]) : []
  const found = elements.find((element) =>
    Object.entries(members).every(([name, value]) => isDeepStrictEqual(element[name], value)),
  )
  if (!found)
    throw new Mismatch(`an element with ${JSON.stringify(members)}`, `${elements.length} others`)
  return found as T
}
