import { SignatureError } from './errors.ts'
import { equalBytes, fromBase64, hmacSha256, isHexHmac, isRecent, toBase64, toHex } from './hmac.ts'
import type { Event, PingEvent, ReducedTransaction } from './wire.ts'

/** Headers of a request: `Headers`, or the object of a framework. */
export type HeaderSource = Headers | Record<string, string | readonly string[] | undefined>

type WithFullData<E> = E extends { data: infer Data }
  ? Omit<E, 'data'> & { data: Exclude<Data, ReducedTransaction> }
  : never

/** An event with the data of the default setting. */
export type WebhookEvent = WithFullData<Event> | PingEvent

export type VerifyOptions = {
  /** Rejects webhooks without `webhook-signature`. `X-SVC-Signature` covers no time: a copy stays valid. */
  requireStandard?: boolean | undefined
}

/**
 * Verifies a webhook by its `webhook-signature`, or by `X-SVC-Signature` if that header is absent, and
 * returns its event (docs/webhooks.md#verification).
 *
 * @param rawBody the body as received, before any parsing
 * @throws SignatureError
 */
export const verify = async (
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeaderSource,
  secrets: string | readonly string[],
  { requireStandard = false }: VerifyOptions = {},
): Promise<WebhookEvent> => {
  const body = bytesOf(rawBody)
  const keys = secretsIn(secrets)
  const header = headerReader(headers)
  const signature = header('webhook-signature')
  const valid =
    signature === undefined && !requireStandard
      ? await hasPublishedSignature(body, header, keys)
      : await hasStandardSignature(body, header, signature ?? '', keys)
  if (!valid) throw new SignatureError('The signature of the webhook is wrong')
  return eventIn(body)
}

/**
 * Returns body and headers of a webhook as the service sends it, for tests of a receiver. The event gets
 * the members that it lacks, such as a new `event_id`.
 */
export const signed = async (
  event: { event: string },
  secret: string,
): Promise<{ body: string; headers: Record<string, string> }> => {
  const envelope = {
    event_id: `evt_${Math.floor(Math.random() * 1e15)}`,
    timestamp: new Date().toISOString(),
    api_version: 'v1',
    data: {},
    ...event,
  }
  const body = JSON.stringify(envelope)
  const id = String(envelope.event_id)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const attempt = Date.now().toString(16).padStart(16, '0')
  const headers = {
    'content-type': 'application/json',
    'x-svc-event': event.event,
    'x-svc-event-id': id,
    'x-svc-delivery-id': `dlv_${id.replace('evt_', '')}_${attempt}`,
    'x-svc-timestamp': timestamp,
    'x-svc-signature': toHex(await hmacSha256(secret, body)),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${toBase64(await standardHmac(secret, id, timestamp, bytesOf(body)))}`,
  }
  return { body, headers }
}

const bytesOf = (body: string | Uint8Array | ArrayBuffer): Uint8Array => {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError('rawBody must be the bytes or the text of the body, not a parsed object')
}

type HeaderReader = (name: string) => string | undefined

const isHeaders = (headers: HeaderSource): headers is Headers => typeof headers.get === 'function'

const headerReader = (headers: HeaderSource): HeaderReader => {
  // Not instanceof, because a framework can have its own Headers class.
  if (isHeaders(headers)) return (name) => headers.get(name) ?? undefined
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const byName = new Map(entries as [string, string | readonly string[] | undefined][])
  return (name) => {
    const value = byName.get(name)
    return typeof value === 'object' ? value[0] : value
  }
}

/** @throws SignatureError for a time that is missing, malformed or more than five minutes off */
const checkAge = (timestamp: string): void => {
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new SignatureError('The signature has no time')
  if (isRecent(timestamp)) return
  const age = Math.round(Date.now() / 1000 - Number(timestamp))
  throw new SignatureError(`The signature is ${age} seconds old by the clock of this machine`)
}

/** Returns the secrets. @throws TypeError if there is none, or one without a key */
export const secretsIn = (secrets: string | readonly string[]): readonly string[] => {
  const list = [secrets].flat()
  if (list.length === 0) throw new TypeError('secrets is empty')
  for (const secret of list) standardKey(secret)
  return list
}

const standardKey = (secret: string | undefined): Uint8Array => {
  const key = fromBase64(secret?.replace(/^whsec_/, '') ?? '')
  if (!key?.length) throw new TypeError('a webhook secret must be whsec_ and base64')
  return key
}

const standardHmac = (secret: string, id: string, timestamp: string, body: Uint8Array) =>
  hmacSha256(standardKey(secret), `${id}.${timestamp}.`, body)

const hasStandardSignature = async (
  body: Uint8Array,
  header: HeaderReader,
  text: string,
  secrets: readonly string[],
): Promise<boolean> => {
  const [id, timestamp = ''] = [header('webhook-id'), header('webhook-timestamp')]
  if (!id) throw new SignatureError('The signature has no webhook-id')
  checkAge(timestamp)
  const signatures = text.split(' ').flatMap((part) => {
    const bytes = part.startsWith('v1,') ? fromBase64(part.slice(3)) : undefined
    return bytes ? [bytes] : []
  })
  const expected = await Promise.all(
    secrets.map((secret) => standardHmac(secret, id, timestamp, body)),
  )
  return signatures.some((one) => expected.some((bytes) => equalBytes(one, bytes)))
}

const hasPublishedSignature = async (
  body: Uint8Array,
  header: HeaderReader,
  secrets: readonly string[],
): Promise<boolean> => {
  const timestamp = header('x-svc-timestamp')
  if (timestamp !== undefined) checkAge(timestamp)
  const given = [header('x-svc-signature'), header('x-svc-signature-previous')]
  if (given.every((text) => !text)) throw new SignatureError('The webhook has no signature')
  const matches = await Promise.all(
    given.map((text = '') => isHexHmac(text.replace(/^sha256=/, ''), secrets, body)),
  )
  return matches.includes(true)
}

const eventIn = (body: Uint8Array): WebhookEvent => {
  try {
    const event = JSON.parse(new TextDecoder().decode(body))
    if (typeof event?.event === 'string') return event
  } catch {
    // Malformed JSON is rejected below.
  }
  throw new SignatureError('The body of the webhook is not an event')
}
