import { addAbortSignal } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { FailureCause, Outcome } from '../../domain/webhooks/attempt.ts'
import { anySignal } from './any-signal.ts'
import { type Connection, closeIdle, connectionTo, keep } from './connection.ts'
import type { Network } from './network.ts'
import { type Rules, strict, targetOf } from './target.ts'

/**
 * One attempt at one receiver: at addresses that were judged, bounded in time and in what is read,
 * and never redirected.
 */

/** More of a receiver's answer than this is neither read nor kept. */
const BODY_MAX_BYTES = 4 * 1024

/** Some proxies tell of their work in answers like 102 and 103; nobody needs more of them. */
const INTERIM_ANSWERS_MAX = 16

/** A day. The schedule of a delivery has a smaller bound of its own. */
const RETRY_AFTER_MAX_SECONDS = 86_400

export type Parcel = {
  url: string
  headers: Record<string, string>
  body: string
  timeoutSeconds: number
  connectionTimeoutSeconds: number
  /** Breaks the attempt off, whatever it would have come to. */
  signal?: AbortSignal
}

/** `address` is the one that a connection was made to. */
export type Sent = { outcome: Outcome; address: string | null }

/** @param bodySeconds how long a body may take once its headers are there: the status has decided */
export const sender =
  (rules: Rules, { bodySeconds }: { bodySeconds: number }) =>
  async (parcel: Parcel, network: Network): Promise<Sent> => {
    const { limit, connecting, end } = boundsOf(parcel)
    try {
      const target = await targetOf(parcel.url, { network, rules, signal: connecting })
      if ('cause' in target) return unreached(target.cause, null)
      const connection = await connectionTo(target, connecting)
      if ('cause' in connection) return unreached(connection.cause, connection.address)
      return await exchange(connection, { parcel, url: target.url, limit, bodySeconds })
    } finally {
      end()
    }
  }

/** POSTs a webhook, by the strict rules. Whatever happens is an outcome; nothing is thrown. */
export const post = sender(strict, { bodySeconds: 5 })

/** Lets go of idle connections, so that a process can end. */
export const closeConnections = closeIdle

const after = (seconds: number): AbortSignal => AbortSignal.timeout(Math.ceil(seconds * 1000))

const boundsOf = ({ timeoutSeconds, connectionTimeoutSeconds, signal }: Parcel) => {
  // Over the whole attempt: a body that drips would outlive every timeout between two bytes.
  const whole = after(timeoutSeconds)
  const broken = signal && anySignal(whole, signal)
  const limit = broken?.signal ?? whole
  // Over the look-up too. A limit that comes first is felt as no connection, which it is.
  const connecting = anySignal(after(connectionTimeoutSeconds), limit)
  const end = (): void => {
    connecting.end()
    broken?.end()
  }
  return { limit, connecting: connecting.signal, end }
}

const unreached = (
  cause: Exclude<FailureCause, 'status' | 'redirect'>,
  address: string | null,
): Sent => ({
  outcome: { kind: 'unreached', cause },
  address,
})

type Exchange = { parcel: Parcel; url: URL; limit: AbortSignal; bodySeconds: number }

const exchange = async (connection: Connection, wanted: Exchange): Promise<Sent> => {
  const { client, address } = connection
  try {
    const response = await client.request(requestOf(wanted))
    const { text, whole } = await start(response.body, after(wanted.bodySeconds))
    await (whole ? keep(connection) : client.destroy())
    const retryAfterSeconds = retryAfter(response.headers['retry-after'])
    const outcome: Outcome = {
      kind: 'answered',
      code: response.statusCode,
      body: text,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    }
    return { outcome, address }
  } catch {
    await client.destroy()
    return unreached(wanted.limit.aborted ? 'read_timeout' : 'broken', address)
  }
}

const requestOf = ({ parcel, url, limit }: Exchange): Dispatcher.RequestOptions => {
  let interim = 0
  return {
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'debit-collection-webhooks/1',
      ...parcel.headers,
    },
    body: parcel.body,
    signal: limit,
    onInfo: () => {
      interim += 1
      if (interim > INTERIM_ANSWERS_MAX) throw new Error('too many interim responses')
    },
  }
}

/** The seconds form only; a date would let a receiver's clock decide. */
const retryAfter = (value: string | string[] | undefined): number | undefined =>
  typeof value === 'string' && /^[0-9]+$/.test(value)
    ? Math.min(Number(value), RETRY_AFTER_MAX_SECONDS)
    : undefined

type Body = Dispatcher.ResponseData['body']

/** The status has decided already, so a body that breaks off or drips is cut, not a failure. */
const start = async (
  body: Body,
  patience: AbortSignal,
): Promise<{ text: string; whole: boolean }> => {
  const parts: Buffer[] = []
  let length = 0
  let whole = false
  try {
    for await (const part of addAbortSignal(patience, body) as AsyncIterable<Buffer>) {
      parts.push(part)
      length += part.length
      if (length >= BODY_MAX_BYTES) break
    }
    whole = length < BODY_MAX_BYTES
  } catch {
    // What came before the break is what there is to keep.
  }
  const text = Buffer.concat(parts).subarray(0, BODY_MAX_BYTES).toString('utf8')
  return { text, whole }
}
