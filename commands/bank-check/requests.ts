import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { exchanges } from '../../sdk/openapi/bank-exchanges.ts'
import { ConnectorFault } from '../../shared/banks/connector.ts'
import { submissionResult } from '../../shared/banks/http.ts'
import { payoutResult } from '../../shared/banks/http-payments.ts'
import { type BankResponse, NOT_RECEIVED, sendBankRequest } from '../../shared/banks/request.ts'
import type { Echoed } from '../../shared/banks/response.ts'
import type { Uuid } from '../../shared/domain/ids.ts'
import { formatAmount, pesewas } from '../../shared/domain/money.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { requestHmac } from '../../shared/request-hmac.ts'
import { Mismatch } from '../expect.ts'

/** Sends genuine and forged requests to a bank, and parses replies as the service does. */

export type CheckedBank = {
  /** Normalized, without a trailing slash. */
  url: string
  secret: string
  /** Account number of all requests, for a bank that knows only its own accounts. */
  account: string | undefined
  /** A number with an account, for a bank that answers for accounts. */
  phone?: string | undefined
}

const parts = {
  submission: { path: '/submissions', resultOf: submissionResult },
  payout: { path: '/settlements', resultOf: payoutResult },
  refund: { path: '/refunds', resultOf: payoutResult },
} as const

type Method = 'GET' | 'POST'

export type OrderKind = keyof typeof parts

export type Order = Echoed & { kind: OrderKind; body: object }

export type BankReply = {
  /** As the bank sent it. */
  status: string
  text: string
  /** As the service parses it. */
  result: object
}

/** Changes to a request, which the bank must then refuse. */
export type Forgery = {
  signingSecret?: string
  signedPath?: string
  signedBody?: string
  isUnsigned?: boolean
  /** Offset of the timestamp from the current time. */
  secondsOff?: number
}

/** The timeout of a submission to a slow bank (docs/bank-protocol.md#time-limits). */
const TIMEOUT_SECONDS = 20

/** Pesewas. Without a zero, so that a bank that drops zeros fails only the case `amounts`. */
const AMOUNT = 123_45

export type BankClient = ReturnType<typeof bankClient>

const newStopwatch = () => {
  const slowest = { request: 'none', seconds: 0 }

  /** Records the time of a request. @throws Mismatch without a complete reply */
  const measure = async (
    request: string,
    sending: Promise<BankResponse>,
  ): Promise<BankResponse> => {
    const start = performance.now()
    try {
      return await sending
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      throw new Mismatch('a complete reply', message || code)
    } finally {
      const seconds = (performance.now() - start) / 1_000
      if (seconds > slowest.seconds) Object.assign(slowest, { request, seconds })
    }
  }
  return { slowest, measure }
}

export const bankClient = (bank: CheckedBank) => {
  const { slowest, measure } = newStopwatch()
  const measureOrder = (method: Method, { kind }: Order, sending: Promise<BankResponse>) =>
    measure(`${method} ${parts[kind].path}`, sending)

  const send = (method: Method, order: Order): Promise<BankResponse> =>
    measureOrder(method, order, sendAsConnector(bank, method, order))

  const post = async (order: Order): Promise<BankReply> =>
    expectReply(order, await send('POST', order))

  /** Returns undefined for 404. */
  const query = async (order: Order): Promise<BankReply | undefined> => {
    const response = await send('GET', order)
    return response.status === NOT_RECEIVED ? undefined : expectReply(order, response)
  }

  const newOrder = async (kind: OrderKind, amount = AMOUNT): Promise<Order> => {
    const order = orderOf(kind, amount, bank.account)
    if (kind !== 'refund') return order
    // A refund belongs to a debit that the bank has.
    const debit = await newOrder('submission', amount)
    const { result } = await post(debit)
    const bank_reference = 'bankReference' in result ? result.bankReference : null
    return { ...order, body: { ...order.body, debit_uuid: debit.uuid, bank_reference } }
  }

  const sendRaw = (method: Method, order: Order, forgery?: Forgery): Promise<BankResponse> => {
    const exchange = async () => {
      const { request, body } = open(bank, method, order, forgery)
      request.end(body)
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      return { status: response.statusCode ?? 0, body: await buffer(response) }
    }
    return measureOrder(method, order, exchange())
  }

  /** Closes the connection after the request, without waiting for the reply. */
  const postAndClose = async (order: Order): Promise<void> => {
    const { request, body } = open(bank, 'POST', order)
    const closed = once(request, 'close')
    request.end(body, () => request.destroy())
    // The next request reports a bank that cannot be reached.
    await closed.catch(() => undefined)
  }

  /** Asks for the account of a number. */
  const askAccount = (phone: string, secret = bank.secret): Promise<BankResponse> => {
    const url = `${bank.url}/accounts/${phone}`
    const request = { method: 'GET', url, secret, at: new Date() } as const
    const sending = sendBankRequest({ ...request, timeoutSeconds: TIMEOUT_SECONDS })
    return measure('GET /accounts', sending)
  }

  return { slowest, askAccount, post, query, newOrder, replyIn, sendRaw, postAndClose }
}

const urlOf = ({ url }: CheckedBank, method: Method, { kind, uuid }: Order): string =>
  `${url}${parts[kind].path}${method === 'POST' ? '' : `/${uuid}`}`

const sendAsConnector = (
  bank: CheckedBank,
  method: Method,
  order: Order,
): Promise<BankResponse> => {
  const content = { headers: { 'x-idempotency-key': order.uuid }, body: JSON.stringify(order.body) }
  return sendBankRequest({
    ...{ method, url: urlOf(bank, method, order), secret: bank.secret, at: new Date() },
    ...(method === 'POST' && content),
    timeoutSeconds: TIMEOUT_SECONDS,
  })
}

/** Returns the fault of a response that the service refuses. */
const replyIn = (
  { kind, ...echoed }: Order,
  response: BankResponse,
): BankReply | ConnectorFault => {
  try {
    const result = parts[kind].resultOf(response, echoed)
    const text = response.body.toString()
    return { status: JSON.parse(text).status, text, result }
  } catch (error) {
    if (error instanceof ConnectorFault) return error
    throw error
  }
}

const expectReply = (order: Order, response: BankResponse) => {
  const reply = replyIn(order, response)
  if (!(reply instanceof ConnectorFault)) return reply
  const echo = JSON.stringify({ uuid: order.uuid, amount: formatAmount(order.amount) })
  const statuses = exchanges[parts[order.kind].path].replies
    .join(', ')
    .replace('rejectedDebit', 'rejected')
  throw new Mismatch(`${statuses} with ${echo}`, `${reply.reason} ${response.body}`)
}

const orderOf = (kind: OrderKind, amount: number, account: string | undefined): Order => {
  const uuid = randomUUID() as Uuid
  const now = new Date()
  const body = {
    ...exchanges[parts[kind].path].example,
    ...(kind === 'payout' ? { date: dayOf(now) } : { timestamp: now }),
    ...(account && { account_number: account }),
    uuid,
    amount: formatAmount(pesewas(amount)),
  }
  return { kind, uuid, amount: pesewas(amount), body }
}

/** Opens a request without the limits of the connector, signed as the service does unless forged. */
const open = (
  bank: CheckedBank,
  method: Method,
  order: Order,
  { signingSecret = bank.secret, signedPath, signedBody, isUnsigned, secondsOff = 0 }: Forgery = {},
) => {
  const target = new URL(urlOf(bank, method, order))
  const isPost = method === 'POST'
  const body = isPost ? JSON.stringify(order.body) : ''
  const timestamp = String(Math.floor(Date.now() / 1_000) + secondsOff)
  const signed = { method, path: signedPath ?? target.pathname, timestamp }
  const signature = requestHmac(signingSecret, { ...signed, body: signedBody ?? body })
  const headers = {
    'x-timestamp': timestamp,
    ...(!isUnsigned && { 'x-signature': signature }),
    ...(isPost && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-idempotency-key': order.uuid,
    }),
  }
  const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1_000)
  const request = target.protocol === 'https:' ? requestHttps : requestHttp
  return { request: request(target, { method, headers, signal, agent: false }), body }
}
