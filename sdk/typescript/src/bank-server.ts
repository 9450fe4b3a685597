import {
  type Awaitable,
  type Identity,
  type Kind,
  memoryStore,
  type Outcome,
  type PaymentReply,
  type ReplyStore,
  replyText,
  type SubmissionReply,
} from './bank-replies.ts'
import type { Payment, RefundOrder, Submission } from './bank-wire.ts'
import { isHexHmac, isRecent } from './hmac.ts'
import { callHook } from './hook.ts'
import { BODY_IS_PARSED, type ReadableRequest, readBody } from './node-request.ts'

/** Serves the requests of the service to a bank (docs/bank-protocol.md). */

export type BankServerOptions<Transaction = undefined> = {
  /** The connector secret; during a change the new and the old one. */
  secret: string | readonly string[]
  /** By default in memory, for tests only: a repeat after a restart has a second effect. */
  store?: ReplyStore<Transaction> | undefined
  /** Accepts or rejects a debit, or returns its outcome, once per uuid unless it throws. */
  onSubmission: (submission: Submission, transaction: Transaction) => Awaitable<SubmissionReply>
  /** Returns the current outcome of an accepted or underway request, or undefined for its first reply. */
  onQuery?: ((query: { kind: Kind; uuid: string }) => Awaitable<Outcome | undefined>) | undefined
  /** Pays a provider, once per uuid. Without it, the bank rejects payouts. */
  onPayout?: ((payout: Payment, transaction: Transaction) => Awaitable<PaymentReply>) | undefined
  /** Refunds a customer, once per uuid. Without it, the bank rejects refunds. */
  onRefund?:
    | ((refund: RefundOrder, transaction: Transaction) => Awaitable<PaymentReply>)
    | undefined
  /** Returns the account of a phone number, or undefined. Without it, no number has an account. */
  onAccount?: ((phone: string) => Awaitable<Account | undefined>) | undefined
  /**
   * Gets the error of a handler or a store; its own failure is ignored. The service retries the request
   * (default: console.error).
   */
  onError?: ((error: unknown) => void) | undefined
}

/** An account of a customer at the bank. */
export type Account = { accountNumber: string; name: string; active: boolean }

/** Bytes. Requests are far smaller. */
const BODY_LIMIT = 64 * 1024

const ROUTE = /\/(submissions|settlements|refunds)(?:\/([0-9a-f-]{36}))?$/

const ACCOUNT_ROUTE = /\/accounts\/(\+[0-9]+)$/

const KINDS: Record<string, Kind> = {
  submissions: 'submission',
  settlements: 'payout',
  refunds: 'refund',
}

/** The parts of a request that all servers have. */
type Incoming = {
  method: string
  /** As sent, without the query. */
  path: string
  header: (name: string) => string | undefined
  body: () => Promise<Uint8Array | 'too large'>
}

type Reply = { status: number; body: string }

const refuse = (status: number, error: string): Reply => ({
  status,
  body: JSON.stringify({ error }),
})

// The protocol permits status 200 for each reply.
const ok = (body: string): Reply => ({ status: 200, body })

const accountReply = (account: Account | undefined): Reply => {
  if (!account) return refuse(404, 'no such account')
  const { accountNumber: account_number, name, active } = account
  return ok(JSON.stringify({ account_number, name, active }))
}

type Handling<Transaction> = {
  store: ReplyStore<Transaction>
  onQuery: BankServerOptions<Transaction>['onQuery']
  handlers: Record<Kind, (request: never, transaction: Transaction) => Awaitable<Outcome>>
}

/** Returns the functions that reply to an authentic request: new, repeated or queried. */
const requestHandling = <Transaction>({ store, onQuery, handlers }: Handling<Transaction>) => {
  /** Replies with the current outcome of a request whose first reply was not final. */
  const current = async (kind: Kind, first: string): Promise<Reply> => {
    const stored = JSON.parse(first) as Identity & { status: string }
    const isFinal = stored.status !== 'accepted' && stored.status !== 'underway'
    const outcome = isFinal ? undefined : await onQuery?.({ kind, uuid: stored.uuid })
    return ok(outcome ? replyText(kind, stored, outcome) : first)
  }

  const receive = async (kind: Kind, bytes: Uint8Array, key: string | undefined) => {
    const request = requestIn(bytes)
    if (request?.uuid !== key || !request) return refuse(400, 'the body or its key is malformed')
    const first = await store.once(`${kind}/${key}`, async (transaction) =>
      replyText(kind, request, await handlers[kind](request as never, transaction)),
    )
    // A repeated submission gets the first reply, a repeated payment the current one.
    return kind === 'submission' ? ok(first) : current(kind, first)
  }

  const query = async (kind: Kind, uuid: string) => {
    const first = await store.read(`${kind}/${uuid}`)
    return first === undefined ? refuse(404, 'not received') : current(kind, first)
  }
  return { receive, query }
}

/** Returns why a request is not authentic, or undefined. */
const forgeryIn = async (
  { method, path, header }: Incoming,
  bytes: Uint8Array,
  secrets: readonly string[],
): Promise<string | undefined> => {
  const timestamp = header('x-timestamp') ?? ''
  if (!/^[0-9]{10}$/.test(timestamp)) return 'X-Timestamp is missing or malformed'
  if (!isRecent(timestamp))
    return 'X-Timestamp is more than five minutes off the clock of this machine'
  const signature = header('x-signature') ?? ''
  const isSigned = await isHexHmac(signature, secrets, `${method}${path}${timestamp}`, bytes)
  return isSigned ? undefined : 'X-Signature is missing or wrong'
}

/**
 * Returns the server of a bank's endpoint: a fetch handler, and a listener of node:http and Express. It
 * verifies signatures, handles each uuid once, and repeats uuid and amount in each reply.
 * @throws TypeError for an empty secret
 */
export const bankServer = <Transaction = undefined>({
  secret,
  store = memoryStore(),
  onSubmission,
  onQuery,
  onPayout = () => ({ status: 'rejected', message: 'This bank makes no payouts' }),
  onRefund = () => ({ status: 'rejected', message: 'This bank makes no refunds' }),
  onAccount = () => undefined,
  onError,
}: BankServerOptions<Transaction>) => {
  const secrets = [secret].flat()
  if (secrets.length === 0 || secrets.some((key) => !key)) throw new TypeError('secret is empty')

  const { receive, query } = requestHandling({
    store,
    onQuery,
    handlers: { submission: onSubmission, payout: onPayout, refund: onRefund },
  })

  const handle = async (incoming: Incoming): Promise<Reply> => {
    const { method, path, header, body } = incoming
    const [, route = '', uuid] = ROUTE.exec(path) ?? []
    const [, phone] = ACCOUNT_ROUTE.exec(path) ?? []
    const kind = KINDS[route]
    if (!kind && !phone) return refuse(404, 'no such path')
    const isRead = uuid !== undefined || phone !== undefined
    if (method !== (isRead ? 'GET' : 'POST')) return refuse(405, 'no such method')
    const bytes = isRead ? new Uint8Array() : await body()
    if (bytes === 'too large') return refuse(413, 'the body is too large')
    const forgery = await forgeryIn(incoming, bytes, secrets)
    if (forgery) {
      // biome-ignore lint/suspicious/noConsole: the operator needs the reason, such as a wrong clock
      console.warn(`Refused a request: ${forgery}`)
      return refuse(401, forgery)
    }
    if (!kind) return accountReply(await onAccount(phone ?? ''))
    return uuid ? query(kind, uuid) : receive(kind, bytes, header('x-idempotency-key'))
  }

  const respond = async (incoming: Incoming): Promise<Reply> => {
    try {
      return await handle(incoming)
    } catch (error) {
      if (onError) callHook(onError, error)
      // biome-ignore lint/suspicious/noConsole: a lost error would hide why the service retries
      else console.error(error)
      return refuse(500, 'internal error')
    }
  }

  return {
    fetch: async (request: Request): Promise<Response> => {
      const { status, body } = await respond({
        method: request.method,
        path: new URL(request.url).pathname,
        header: (name) => request.headers.get(name) ?? undefined,
        body: () => readBody((request.body ?? []) as unknown as ReadableRequest, BODY_LIMIT),
      })
      return new Response(body, { status, headers: JSON_TYPE })
    },
    /** Needs the raw body: install no parser before it, or `express.raw({ type: '*\/*' })`. */
    node: async (request: NodeRequest, response: NodeResponse): Promise<void> => {
      const { status, body } = await respond({
        method: request.method ?? '',
        path: (request.originalUrl ?? request.url ?? '').replace(/\?.*/, ''),
        header: (name) => [request.headers[name]].flat()[0],
        body: () => rawBody(request),
      })
      response.writeHead(status, JSON_TYPE)
      response.end(body)
    },
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }

type NodeRequest = ReadableRequest & {
  method?: string | undefined
  url?: string | undefined
  /** The whole path in Express, also below a router. */
  originalUrl?: string | undefined
  headers: Record<string, string | string[] | undefined>
  body?: unknown
}

type NodeResponse = {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body: string): unknown
}

const rawBody = async (request: NodeRequest): Promise<Uint8Array | 'too large'> => {
  const { body } = request
  if (body === undefined) return readBody(request, BODY_LIMIT)
  if (body instanceof Uint8Array) return body.length > BODY_LIMIT ? 'too large' : body
  throw new TypeError(BODY_IS_PARSED)
}

/** Returns undefined for a body that is not a request of the protocol. */
const requestIn = (bytes: Uint8Array): Identity | undefined => {
  try {
    const request = JSON.parse(new TextDecoder().decode(bytes))
    const { uuid, amount } = request
    const isRequest =
      /^[0-9a-f-]{36}$/.test(uuid) &&
      typeof amount === 'string' &&
      /^[0-9]+\.[0-9]{2}$/.test(amount)
    return isRequest ? request : undefined
  } catch {
    return undefined
  }
}
