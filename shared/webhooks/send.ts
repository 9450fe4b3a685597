import type { Webhook } from '../domain/providers/provider.ts'
import { eventId, PING, type ProviderEvent } from '../domain/webhooks/event.ts'
import { sentType } from '../domain/webhooks/event-type.ts'
import { pingBody } from '../views/webhook-payload.ts'
import { network } from './http/network.ts'
import { post, type Sent } from './http/sender.ts'
import { type Signed, signatureHeaders } from './http/signature.ts'

const sendSigned = (webhook: Webhook, signed: Signed, signal?: AbortSignal): Promise<Sent> =>
  post(
    {
      url: webhook.url,
      body: signed.body,
      headers: signatureHeaders(webhook, signed),
      timeoutSeconds: webhook.timeoutSeconds,
      connectionTimeoutSeconds: webhook.connectionTimeoutSeconds,
      ...(signal ? { signal } : {}),
    },
    network,
  )

type Sending = {
  event: ProviderEvent
  /** X-SVC-Delivery-ID. */
  id: string
  webhook: Webhook
  at: Date
  /** Breaks it off. */
  signal: AbortSignal
}

/** Signs an event, and posts it. */
export const send = ({ event, id, webhook, at, signal }: Sending): Promise<Sent> => {
  const signed = {
    body: JSON.stringify(event.payload(webhook)),
    event: sentType(event.type, webhook),
    eventId: eventId(event),
    attemptId: id,
    at,
  }
  return sendSigned(webhook, signed, signal)
}

// Its caller waits for the answer, and gives up before thirty seconds.
const PING_SECONDS = 15
const PING_CONNECTION_SECONDS = 10

/** Signs a ping, and posts it. */
export const ping = (
  webhook: Webhook,
  { id, eventId, at }: { id: string; eventId: string; at: Date },
): Promise<Sent> => {
  const patient = {
    ...webhook,
    timeoutSeconds: Math.min(webhook.timeoutSeconds, PING_SECONDS),
    connectionTimeoutSeconds: Math.min(webhook.connectionTimeoutSeconds, PING_CONNECTION_SECONDS),
  }
  return sendSigned(patient, {
    body: pingBody({ eventId, at }),
    event: PING,
    eventId,
    attemptId: id,
    at,
  })
}
