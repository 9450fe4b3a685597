import { createHmac } from 'node:crypto'
import { timestampOf } from '../../domain/webhooks/attempt.ts'
import {
  canSign,
  previousAt,
  type StoredWebhook,
  type Webhook,
} from '../../domain/webhooks/webhook.ts'

/** A replacement of a webhook's secret, with an overlap (docs/api.md#signatures). */
type WebhookRotation = {
  /** The new secret, the same in each retry of the rotation. */
  secret: string
  at: Date
  /** The overlap in which both secrets sign; 0 ends the old one at once. */
  graceSeconds: number
}

/**
 * Replaces the secret and drops an earlier previous one, so that two rotations end a leaked secret. An
 * unreadable secret has no overlap. Returns the unchanged object for a repeated rotation.
 */
export const rotated = (
  webhook: StoredWebhook,
  { secret, at, graceSeconds }: WebhookRotation,
): Webhook => {
  if (canSign(webhook) && [webhook.secret, webhook.previous?.secret].includes(secret))
    return webhook
  const { previous, ...rest } = webhook
  if (graceSeconds === 0 || !canSign(webhook)) return { ...rest, secret }
  const until = new Date(at.getTime() + graceSeconds * 1000)
  return { ...rest, secret, previous: { secret: webhook.secret, until } }
}

export type Signed = {
  body: string
  /** The event name, as in the body. */
  event: string
  eventId: string
  /** Differs in each attempt; the event id does not. */
  attemptId: string
  /** The time of the signature, which a receiver compares with its own. */
  at: Date
  /** The time of the service, which ends the overlap of two secrets: a sandbox moves it. */
  now: Date
}

export type Signing = Pick<Webhook, 'secret' | 'previous' | 'signaturePrefix'>

const SECRET_PREFIX = 'whsec_'

// Node is five times slower with a key of bytes than with its text.
const hmac = (key: string, text: string, encoding: 'utf8' | 'base64' = 'utf8') =>
  createHmac('sha256', key, { encoding }).update(text, 'utf8')

/**
 * Returns the signed headers (docs/api.md#signatures). `x-svc-signature` covers the body, keyed with the
 * text of the secret. `webhook-signature` covers id, time and body, keyed with its decoded bytes, as
 * Standard Webhooks defines. In a rotation, both secrets sign.
 */
export const signatureHeaders = (signing: Signing, signed: Signed): Record<string, string> => {
  const timestamp = timestampOf(signed.at)
  const previous = previousAt(signing, signed.now)?.secret
  const prefix = signing.signaturePrefix ? `${signing.signaturePrefix}=` : ''
  const ofBody = (secret: string) => prefix + hmac(secret, signed.body).digest('hex')
  const standard = (secret: string) => {
    const text = `${signed.eventId}.${timestamp}.${signed.body}`
    return `v1,${hmac(secret.slice(SECRET_PREFIX.length), text, 'base64').digest('base64')}`
  }
  return {
    'x-svc-signature': ofBody(signing.secret),
    ...(previous && { 'x-svc-signature-previous': ofBody(previous) }),
    'x-svc-event': signed.event,
    'x-svc-event-id': signed.eventId,
    'x-svc-delivery-id': signed.attemptId,
    'x-svc-timestamp': timestamp,
    'webhook-id': signed.eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': [signing.secret, previous]
      .filter((secret) => secret !== undefined)
      .map(standard)
      .join(' '),
  }
}

export const webhookSecret = (bytes: Uint8Array): string =>
  `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`
