import { createHmac } from 'node:crypto'

/** The headers that prove an event is ours (specification, Delivery; Standard Webhooks beside it). */

export type Signed = {
  body: string
  event: string
  eventId: string
  /** Names the attempt: differs each time, where the event id stays. */
  attemptId: string
  at: Date
}

const SECRET_PREFIX = 'whsec_'

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text, 'utf8')

/**
 * X-SVC-Signature covers the body and is keyed with the whole secret string as the partner got it.
 * It says nothing of the time, so `webhook-signature` stands beside it, keyed with the decoded
 * bytes of the secret: over id, time and body, as Standard Webhooks has it.
 */
export const signatureHeaders = (secret: string, signed: Signed): Record<string, string> => {
  const timestamp = String(Math.floor(signed.at.getTime() / 1000))
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const standard = hmac(key, `${signed.eventId}.${timestamp}.${signed.body}`).digest('base64')
  return {
    'x-svc-signature': hmac(secret, signed.body).digest('hex'),
    'x-svc-event': signed.event,
    'x-svc-event-id': signed.eventId,
    'x-svc-delivery-id': signed.attemptId,
    'x-svc-timestamp': timestamp,
    'webhook-id': signed.eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
  }
}

/** @param bytes 32 bytes of randomness */
export const webhookSecret = (bytes: Uint8Array): string =>
  `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`
