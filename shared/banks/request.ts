import { Agent, type Dispatcher } from 'undici'
import { requestHmac } from '../request-hmac.ts'
import { ConnectorFault } from './connector-fault.ts'

/**
 * One signed exchange with a bank: bounded in time and in what is read, never redirected and never
 * repeated here. The queue repeats, so that no repeat goes out without a look at what stands.
 */

const CONNECT_SECONDS = 5
const BODY_MAX_BYTES = 16 * 1024

export type BankRequest = {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string
  secret: string
  at: Date
  timeoutSeconds: number
}

export type BankResponse = { status: number; body: Buffer }

const agent = new Agent({
  connect: {
    timeout: CONNECT_SECONDS * 1000,
    // Settings of the process could lower both.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  },
  pipelining: 1,
  allowH2: false,
})

/** @throws ConnectorFault when no whole answer came, or one too long */
export const sendBankRequest = async (question: BankRequest): Promise<BankResponse> => {
  const { method, url, headers = {}, body } = question
  // Over the whole exchange: a body that drips would outlive every timeout between two bytes.
  const signal = AbortSignal.timeout(question.timeoutSeconds * 1000)
  try {
    const { origin, pathname, search } = new URL(url)
    const response = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method,
      headers: {
        'accept-encoding': 'identity',
        'user-agent': 'debit-collection-banks/1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        ...signatureHeaders(question),
      },
      ...(body === undefined ? {} : { body }),
      signal,
    })
    return { status: response.statusCode, body: await readWhole(response.body) }
  } catch (error) {
    throw error instanceof ConnectorFault ? error : faultOf(error)
  }
}

/** The scheme of signed requests to the API (specification, Authentication, 6), here the other way. */
const signatureHeaders = ({ method, url, body = '', secret, at }: BankRequest) => {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const path = new URL(url).pathname
  return {
    'x-timestamp': timestamp,
    'x-signature': requestHmac(secret, { method, path, timestamp, body }),
  }
}

type Body = Dispatcher.ResponseData['body']

/** A part of an answer is no answer: half a word about money is not to be read. */
const readWhole = async (body: Body): Promise<Buffer> => {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length > BODY_MAX_BYTES) throw new ConnectorFault(2002, 'the response is too long')
  }
  return Buffer.concat(parts)
}

/** Errors of undici about what it read, not about the connection. */
const NOT_HTTP = new Set([
  'HTTPParserError',
  'HeadersOverflowError',
  'ResponseContentLengthMismatchError',
])

/** Without the error itself, which may carry bytes of the answer into a log. */
const faultOf = (error: unknown): ConnectorFault => {
  const { name, code = '' } = error as { name?: string; code?: string }
  if (name === 'TimeoutError' || name === 'AbortError') {
    return new ConnectorFault(2408, 'no complete response in time')
  }
  if (NOT_HTTP.has(String(name))) {
    return new ConnectorFault(2002, 'the response is not HTTP')
  }
  return new ConnectorFault(2502, code || String(name))
}
