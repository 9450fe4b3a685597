import { createHmac } from 'node:crypto'
import type { Webhook } from '../../domain/webhooks/webhook.ts'
import { previousAt } from './rotation.ts'

/** The headers that prove an event is ours (specification, Delivery; Standard Webhooks beside it). */

export type Signed = {
  body: string
  /** As the body names it. */
  event: string
  eventId: string
  /** Names the attempt: differs each time, where the event id stays. */
  attemptId: string
  at: Date
}

/** What of a webhook decides how its events are signed. */
export type Signing = Pick<Webhook, 'secret' | 'previous' | 'signaturePrefix'>

const SECRET_PREFIX = 'whsec_'

// A key of bytes takes Node five times as long as the text that they are written in.
const hmac = (key: string, text: string, encoding: 'utf8' | 'base64' = 'utf8') =>
  createHmac('sha256', key, { encoding }).update(text, 'utf8')

/**
 * X-SVC-Signature covers the body and is keyed with the whole secret string as the provider got it.
 * It says nothing of the time, so `webhook-signature` stands beside it, keyed with the decoded
 * bytes of the secret: over id, time and body, as Standard Webhooks has it. While a rotation
 * overlaps, both secrets sign: there in one header, new one first, here in two.
 */
export const signatureHeaders = (signing: Signing, signed: Signed): Record<string, string> => {
  const timestamp = String(Math.floor(signed.at.getTime() / 1000))
  const previous = previousAt(signing, signed.at)?.secret
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

/** @param bytes 32 bytes of randomness */
export const webhookSecret = (bytes: Uint8Array): string =>
  `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`
