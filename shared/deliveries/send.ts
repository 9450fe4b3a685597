import type { Debit } from '../domain/debit.ts'
import { attemptId } from '../domain/delivery.ts'
import { eventId, webhookBody } from '../domain/event.ts'
import { sentType } from '../domain/event-type.ts'
import type { Webhook } from '../domain/partner.ts'
import { post, type Sent } from '../webhooks/sender.ts'
import { signatureHeaders } from '../webhooks/signature.ts'

type Sending = { debit: Debit; n: number; number: number; webhook: Webhook; at: Date }

/** Signs event `n` of a debit as its attempt `number`, and posts it. */
export const send = ({ debit, n, number, webhook, at }: Sending): Promise<Sent> => {
  const { reference } = debit.facts
  const body = webhookBody(debit, n, webhook)
  const entry = debit.history[n]
  if (!entry) throw new Error(`Debit ${reference} has no event ${n}`)
  return post({
    url: webhook.url,
    body,
    headers: signatureHeaders(webhook, {
      body,
      event: sentType(entry.type, webhook),
      eventId: eventId(reference, n),
      attemptId: attemptId({ reference, n }, number),
      at,
    }),
    timeoutSeconds: webhook.timeoutSeconds,
    connectionTimeoutSeconds: webhook.connectionTimeoutSeconds,
  })
}
