import * as v from 'valibot'
import { EventType } from './event-type.ts'

/** A provider's webhook: URL, secrets and settings (docs/api.md#webhook-settings). */
export const Webhook = v.object({
  url: v.string(),
  /** `whsec_` and base64 of 32 bytes. */
  secret: v.string(),
  /** The secret before the last rotation. Until that time the service signs with both. */
  previous: v.optional(v.object({ secret: v.string(), until: v.date() })),
  /** Absent: all events of debits. */
  events: v.optional(v.array(EventType)),
  /** The time of its creation. The provider must receive every later event, also after a change. */
  since: v.optional(v.date()),
  /** When event types were subscribed, if that was later. */
  subscribedAt: v.optional(v.record(EventType, v.string())),
  /** Total attempts. Absent: by the priority of the event. */
  attemptsMax: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10))),
  timeoutSeconds: v.pipe(v.number(), v.integer(), v.minValue(10), v.maxValue(60)),
  connectionTimeoutSeconds: v.pipe(v.number(), v.integer(), v.minValue(5), v.maxValue(30)),
  // The published variants (docs/api.md#variants).
  signaturePrefix: v.optional(v.literal('sha256')),
  payload: v.optional(v.literal('reduced')),
  eventNames: v.optional(v.literal('debit_request')),
})
export type Webhook = v.InferOutput<typeof Webhook>

/** A webhook as stored. Without a secret, the stored one cannot be opened: nothing can be signed. */
export type StoredWebhook = Omit<Webhook, 'secret'> & Partial<Pick<Webhook, 'secret'>>

export const canSign = (webhook: StoredWebhook): webhook is Webhook => webhook.secret !== undefined

/** Returns the previous secret if it still signs. */
export const previousAt = ({ previous }: Pick<Webhook, 'previous'>, at: Date) =>
  previous && at < previous.until ? previous : undefined
