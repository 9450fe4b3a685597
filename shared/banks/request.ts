import type { Dispatcher } from 'undici'
import { type BankIdentifier, UnreadableSecret } from '../domain/banks/bank.ts'
import type { Uuid } from '../domain/ids.ts'
import { Refusal } from '../domain/refusal.ts'
import { measure } from '../metrics.ts'
import { requestHmac } from '../request-hmac.ts'
import { agentFor } from './agent.ts'
import { bankUrl } from './bank-url.ts'
import { type ConnectionConfig, ConnectorFault } from './connector.ts'

const BODY_MAX_BYTES = 16 * 1024

export type BankRequest = {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string
  secret: string
  at: Date
  timeoutSeconds: number
  clientCertificate?: string | undefined
}

export type BankResponse = { status: number; body: Buffer }

/**
 * Sends one signed request to a bank. Follows no redirect and never retries: the consumer retries
 * after it has read the current item.
 * @throws ConnectorFault if the response is incomplete, late or above 16 KB, or the client certificate
 *   is unreadable
 */
export const sendBankRequest = async (request: BankRequest): Promise<BankResponse> => {
  const { method, url, headers = {}, body } = request
  const { agent, validTo } = agentFor(request.clientCertificate, request.at)
  // Covers the whole request: a slow body would outlive any timeout between two bytes.
  const signal = AbortSignal.timeout(request.timeoutSeconds * 1000)
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
        ...signatureHeaders(request),
      },
      ...(body === undefined ? {} : { body }),
      signal,
    })
    return { status: response.statusCode, body: await readWhole(response.body) }
  } catch (error) {
    if (error instanceof ConnectorFault) throw error
    throw faultOf(error, validTo && validTo <= request.at)
  }
}

/** Signs as providers sign their requests (docs/api.md#request-signing). */
const signatureHeaders = ({ method, url, body = '', secret, at }: BankRequest) => {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const path = new URL(url).pathname
  return {
    'x-timestamp': timestamp,
    'x-signature': requestHmac(secret, { method, path, timestamp, body }),
  }
}

const readWhole = async (body: Dispatcher.ResponseData['body']): Promise<Buffer> => {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length > BODY_MAX_BYTES) throw new ConnectorFault(2002, 'the response is too long')
  }
  return Buffer.concat(parts)
}

/** undici errors about the content, not about the connection. */
const NOT_HTTP = new Set([
  'HTTPParserError',
  'HeadersOverflowError',
  'ResponseContentLengthMismatchError',
])

/** Reasons of undici, which operators read. */
const reasons: Record<string, string> = {
  UND_ERR_SOCKET: 'the bank closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
}

/** Drops the original error: it may contain bytes of the response, which would be logged. */
const faultOf = (error: unknown, isExpired = false): ConnectorFault => {
  const { name, code = '' } = error as { name?: string; code?: string }
  if (name === 'TimeoutError' || name === 'AbortError') {
    return new ConnectorFault(2408, 'no complete response in time')
  }
  if (NOT_HTTP.has(String(name))) {
    return new ConnectorFault(2002, 'the response is not HTTP')
  }
  const reason = reasons[code] ?? (code || String(name))
  // Most banks close the connection without a reason when a certificate has expired.
  return new ConnectorFault(
    2502,
    isExpired ? `${reason}, the client certificate has expired` : reason,
  )
}

type IdempotentPost = {
  path: '/submissions' | '/settlements' | '/refunds'
  uuid: Uuid
  /** The bank may have received it before. */
  repeated: boolean
  body: object
}

/**
 * Sends a debit, payout or refund, which the bank deduplicates by uuid. Queries the bank first if it
 * may have received it before.
 * @throws ConnectorFault without a complete response
 */
export const postIdempotently = async (
  bank: BankIdentifier,
  post: IdempotentPost,
  config: ConnectionConfig,
): Promise<BankResponse> =>
  (await earlierResponse(bank, post, config)) ?? postOnce(bank, post, config)

/**
 * Queries the bank, if it may have received the request before. Unlike a second POST, a query never has
 * an effect.
 * @returns undefined if the bank has not received it
 */
export const earlierResponse = async (
  bank: BankIdentifier,
  { path, uuid, repeated }: IdempotentPost,
  config: ConnectionConfig,
): Promise<BankResponse | undefined> => {
  if (!repeated) return undefined
  const response = await queryBank(bank, `${path}/${uuid}`, config)
  return response.status === NOT_RECEIVED ? undefined : response
}

export const postOnce = async (
  bank: BankIdentifier,
  { path, uuid, body }: IdempotentPost,
  config: ConnectionConfig,
): Promise<BankResponse> => {
  const send = await bankClient(bank, config)
  return send('POST', path, { headers: { 'x-idempotency-key': uuid }, body: JSON.stringify(body) })
}

/** @throws ConnectorFault without a complete response */
export const queryBank = async (bank: BankIdentifier, path: string, config: ConnectionConfig) => {
  const send = await bankClient(bank, config)
  return send('GET', path)
}

export const NOT_RECEIVED = 404

/** Returns a function that sends with the bank's current settings. */
const bankClient = async (bank: BankIdentifier, config: ConnectionConfig) => {
  const settings = await findSettings(bank, config)
  if (!settings) throw new ConnectorFault(2001, `bank ${bank} has no connector settings`)
  const { secret } = settings
  if (!secret) {
    measure({ SecretsUnreadable: 1 }, { bank })
    throw new ConnectorFault(2001, `the secret of bank ${bank} cannot be opened`)
  }
  const url = bankUrl(settings.url, config)
  if (url instanceof Refusal) throw new ConnectorFault(2001, `the URL of bank ${bank} is refused`)
  const clientCertificate = await findCertificate(config)
  return (
    method: BankRequest['method'],
    path: string,
    content?: Pick<BankRequest, 'headers' | 'body'>,
  ): Promise<BankResponse> =>
    sendBankRequest({
      method,
      url: `${url}${path}`,
      ...content,
      secret,
      at: config.wallTime(),
      timeoutSeconds: config.timeoutSeconds,
      clientCertificate,
    })
}

/** Counts a secret that cannot be opened as an unreachable bank; a fault of the table is none of it. */
const findSettings = (bank: BankIdentifier, { settingsOf }: ConnectionConfig) =>
  settingsOf(bank).catch((error: unknown) => {
    if (!(error instanceof UnreadableSecret)) throw error
    throw new ConnectorFault(2001, `the secret of bank ${bank} cannot be opened`, { cause: error })
  })

/** Counts a certificate that Secrets Manager does not return as an unreachable bank. */
const findCertificate = ({ clientCertificate }: ConnectionConfig) =>
  clientCertificate().catch((cause: unknown) => {
    throw new ConnectorFault(2001, 'the client certificate cannot be read', { cause })
  })
