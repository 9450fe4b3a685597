import { SignatureError } from './errors.ts'
import { callHook } from './hook.ts'
import { type ReadableRequest, readBody } from './node-request.ts'
import {
  type HeaderSource,
  secretsIn,
  type VerifyOptions,
  verify,
  type WebhookEvent,
} from './signature.ts'
import type { Event } from './wire.ts'

/** The place of an event in the history of its subject. */
export type EventKey = {
  id: string
  /** Reference of the debit, or id of the settlement batch. */
  subject: string
  /** Number of the event within its subject, from 0. */
  sequence: number
}

/**
 * Stores the last applied event of each subject. `apply` runs `work` only if `sequence` is higher than
 * the stored one: an equal one is a duplicate, a lower one is superseded. It stores the sequence in the
 * transaction of `work`, and stores nothing if `work` throws.
 */
export type EventStore<Transaction = void> = {
  apply(key: EventKey, work: (transaction: Transaction) => Promise<void> | void): Promise<void>
}

type EventNamed<Name, E = WebhookEvent> = E extends { event: infer Names }
  ? Name extends Names
    ? E
    : never
  : never

type EventName = Exclude<WebhookEvent['event'], 'ping' | `debit_request.${string}`>

const eventNames: Record<EventName, true> = {
  'transaction.created': true,
  'transaction.pending': true,
  'transaction.processing': true,
  'transaction.completed': true,
  'transaction.failed': true,
  'transaction.reversed': true,
  'settlement.completed': true,
}

/** One handler for each event type that the receiver acts on. */
export type EventHandlers<Transaction> = {
  [Name in EventName]?: (event: EventNamed<Name>, transaction: Transaction) => Promise<void> | void
}

export type ApplyOptions<Transaction> = {
  store: EventStore<Transaction>
  on: EventHandlers<Transaction>
}

export type ReceiverOptions<Transaction> = ApplyOptions<Transaction> &
  VerifyOptions & {
    /** The secret, and during a rotation the new and the old one. */
    secrets: string | readonly string[]
    /**
     * Gets the error of a handler or a store; its own failure is ignored. The service retries the event
     * (default: console.error).
     */
    onError?: ((error: unknown) => void) | undefined
  }

/** Bytes. Events are far smaller. */
const BODY_LIMIT = 1024 * 1024

type Handler<Transaction> = (event: WebhookEvent, transaction: Transaction) => Promise<void> | void

/** @throws TypeError for the name of an event that does not exist */
const handlersIn = <Transaction>(on: EventHandlers<Transaction>) => {
  const unknown = Object.keys(on).filter((name) => !Object.hasOwn(eventNames, name))
  if (unknown.length > 0) throw new TypeError(`unknown events: ${unknown.join(', ')}`)
  return on as Partial<Record<string, Handler<Transaction>>>
}

/** Applies an event of the feed as a receiver applies a webhook: once, unless a later one superseded it. */
export const applyEvent = async <Transaction>(
  event: Event | WebhookEvent,
  { store, on }: ApplyOptions<Transaction>,
): Promise<void> => {
  const handlers = handlersIn(on)
  const key = keyOf(event)
  // A type without a handler counts too: an ignored `reversed` supersedes a later `completed`.
  if (!key) return
  const handle = handlers[event.event.replace(/^debit_request\./, 'transaction.')]
  await store.apply(key, (transaction) => handle?.(event as WebhookEvent, transaction))
}

/**
 * Returns the function that applies a webhook and returns the HTTP status of the reply.
 * @throws TypeError for a secret without a key, and for the name of an event that does not exist
 */
const receiver = <Transaction>(options: ReceiverOptions<Transaction>) => {
  secretsIn(options.secrets)
  handlersIn(options.on)
  const apply = async (rawBody: Uint8Array | string | 'too large', headers: HeaderSource) => {
    if (rawBody === 'too large') return 413
    const event = await verify(rawBody, headers, options.secrets, options).catch(refuse)
    if (!event) return 401
    await applyEvent(event, options)
    return 204
  }
  return async (read: () => Promise<Uint8Array | string | 'too large'>, headers: HeaderSource) => {
    try {
      return await apply(await read(), headers)
    } catch (error) {
      if (options.onError) callHook(options.onError.bind(options), error)
      // biome-ignore lint/suspicious/noConsole: a lost error would hide why the service retries
      else console.error(error)
      return 500
    }
  }
}

/** Logs one line: anyone can send a forged webhook. After a SignatureError of a handler, the event is retried. */
const refuse = (error: unknown): undefined => {
  if (!(error instanceof SignatureError)) throw error
  // biome-ignore lint/suspicious/noConsole: the operator needs the reason, such as a wrong clock
  console.warn(`Refused a webhook: ${error.message}`)
}

/** Returns the key of an event, or undefined for a ping and types that this version does not know. */
const keyOf = (event: Event | WebhookEvent): EventKey | undefined => {
  const {
    event_id: id,
    sequence = 0,
    data,
  } = event as {
    event_id: string
    sequence?: number
    data?: { reference?: string; transaction?: { reference: string }; settlement?: { id: string } }
  }
  const subject = data?.settlement?.id ?? data?.transaction?.reference ?? data?.reference
  return subject === undefined ? undefined : { id, subject, sequence }
}

/** Receives webhooks as a fetch handler: Next.js, Deno, Bun, Workers. */
export const fetchReceiver = <Transaction>(options: ReceiverOptions<Transaction>) => {
  const receive = receiver(options)
  return async (request: Request): Promise<Response> => {
    const body = (request.body ?? []) as unknown as ReadableRequest
    const status = await receive(() => readBody(body, BODY_LIMIT), request.headers)
    return new Response(null, { status })
  }
}

/** Receives webhooks in Hono. */
export const honoReceiver = <Transaction>(options: ReceiverOptions<Transaction>) => {
  const receive = fetchReceiver(options)
  return (context: { req: { raw: Request } }): Promise<Response> => receive(context.req.raw)
}

type NodeRequest = ReadableRequest & {
  headers: Record<string, string | string[] | undefined>
  body?: unknown
}

type NodeResponse = { statusCode: number; end(): unknown }

/**
 * Receives webhooks in Express, or as a listener of node:http. The route needs the raw body: install
 * no parser before it, or `express.raw({ type: '*\/*' })`.
 */
export const expressReceiver = <Transaction>(options: ReceiverOptions<Transaction>) => {
  const receive = receiver(options)
  return async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const { body } = request
    const read = async () =>
      body === undefined ? readBody(request, BODY_LIMIT) : (body as Uint8Array | string)
    response.statusCode = await receive(read, request.headers)
    response.end()
  }
}

/** Returns a store in memory, for tests: a restart forgets it. */
export const memoryStore = (): EventStore => {
  const applied = new Map<string, number>()
  let last: Promise<void> = Promise.resolve()
  return {
    apply: ({ subject, sequence }, work) => {
      const result = last.then(async () => {
        if (sequence <= (applied.get(subject) ?? -1)) return
        await work()
        applied.set(subject, sequence)
      })
      last = result.catch(() => undefined)
      return result
    },
  }
}
