import type { ProviderId } from '../domain/providers/provider.ts'
import { PING, type ProviderEvent } from '../domain/webhooks/event.ts'
import type { Webhook } from '../domain/webhooks/webhook.ts'
import { pingBody } from '../views/webhook-payload.ts'
import { network } from './http/network.ts'
import { type PostRequest, post, type SendResult } from './http/sender.ts'
import { type Signed, signatureHeaders } from './http/signature.ts'

/** Lets a caller follow and abort an attempt. */
type SendControl = Pick<PostRequest, 'signal' | 'onResponse'>

const sendSigned = (
  provider: ProviderId,
  webhook: Webhook,
  signed: Signed,
  control: SendControl = {},
): Promise<SendResult> =>
  post(
    {
      provider,
      url: webhook.url,
      body: signed.body,
      headers: signatureHeaders(webhook, signed),
      timeoutSeconds: webhook.timeoutSeconds,
      connectionTimeoutSeconds: webhook.connectionTimeoutSeconds,
      ...control,
    },
    network,
  )

type SendRequest = SendControl & {
  event: ProviderEvent
  /** X-SVC-Delivery-ID. */
  id: string
  webhook: Webhook
  at: Date
  sentAt: Date
}

export const send = ({ event, id, webhook, at, sentAt, ...control }: SendRequest) => {
  const payload = event.payload(webhook)
  const body = JSON.stringify(payload)
  const signed = {
    body,
    event: payload.event,
    eventId: payload.event_id,
    attemptId: id,
    at: sentAt,
    now: at,
  }
  return sendSigned(event.provider, webhook, signed, control)
}

// The caller of a ping waits for its result, and API Gateway times out after 29 seconds.
const PING_SECONDS = 15
const PING_CONNECTION_SECONDS = 10

/** Signs and posts a ping, with shorter timeouts. */
export const ping = (
  provider: ProviderId,
  webhook: Webhook,
  { id, eventId, at, sentAt }: { id: string; eventId: string; at: Date; sentAt: Date },
) => {
  const capped = {
    ...webhook,
    timeoutSeconds: Math.min(webhook.timeoutSeconds, PING_SECONDS),
    connectionTimeoutSeconds: Math.min(webhook.connectionTimeoutSeconds, PING_CONNECTION_SECONDS),
  }
  const body = pingBody({ eventId, at })
  const signed = { body, event: PING, eventId, attemptId: id, at: sentAt, now: at }
  return sendSigned(provider, capped, signed)
}
