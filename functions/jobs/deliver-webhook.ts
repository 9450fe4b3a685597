import type { Debit } from '../../shared/domain/debit.ts'
import { type Delivery, isSettled, owed, recordAttempt } from '../../shared/domain/delivery.ts'
import { deliveryId, eventId, webhookBody } from '../../shared/domain/event.ts'
import { eventTypes } from '../../shared/domain/event-type.ts'
import type { Webhook } from '../../shared/domain/partner.ts'
import { log } from '../../shared/log.ts'
import { consumer } from '../../shared/queues/consume.ts'
import type { Message } from '../../shared/queues/messages.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits.ts'
import { findDelivery, putAttempt } from '../../shared/store/deliveries.ts'
import { findWebhook } from '../../shared/store/webhooks.ts'
import { network } from '../../shared/webhooks/network.ts'
import { post } from '../../shared/webhooks/sender.ts'
import { signatureHeaders } from '../../shared/webhooks/signature.ts'

/**
 * One attempt to hand an event to its partner (specification, Events). The attempt is written to
 * the delivery record, and the table's stream asks for the next one: this function sends nothing
 * to the queues that feed it.
 */
export const deliverWebhook = (runtime: Runtime) =>
  // The three queues differ in priority alone; their messages are one shape.
  consumer('webhooks-high', async (message) => {
    const debit = await findDebit(message.reference)
    // No repeat will find it: debits are never deleted.
    if (!debit) return log.error('event of an unknown debit', { ...message })
    const webhook = await findWebhook(debit.facts.partner)
    if (!webhook) return
    for (let n = message.n; n <= (message.through ?? message.n); n += 1) {
      await attempt({ debit, n, webhook, number: message.attempt }, runtime)
    }
  })

type Attempt = {
  debit: Debit
  n: number
  webhook: Webhook
  number: Message<'webhooks-high'>['attempt']
}

const attempt = async (wanted: Attempt, runtime: Runtime): Promise<void> => {
  const { debit, n, webhook, number } = wanted
  const { reference, partner } = debit.facts
  const entry = debit.history[n]
  if (!entry) throw new Error(`Debit ${reference} has no event ${n}`)
  const { event } = eventTypes[entry.type]
  if (webhook.events && !webhook.events.includes(event)) return
  const delivery =
    (await findDelivery(reference, n)) ??
    owed({ reference, n, event: entry.type, partner }, webhook)
  // A message that came twice, or after another took its attempt.
  if (isSettled(delivery) || number !== delivery.attemptCount + 1) return
  const startedAt = runtime.now()
  const body = webhookBody(debit, n)
  const parcel = {
    url: webhook.url,
    body,
    headers: signatureHeaders(webhook.secret, {
      body,
      event,
      eventId: eventId(reference, n),
      attemptId: `dlv_${deliveryId(reference, n)}_${number}`,
      at: startedAt,
    }),
    timeoutSeconds: webhook.timeoutSeconds,
    connectionTimeoutSeconds: webhook.connectionTimeoutSeconds,
  }
  const { outcome } = await post(parcel, network)
  const finishedAt = runtime.now()
  const draw = [runtime.random(), runtime.random()] as const
  const attempted = recordAttempt(delivery, outcome, finishedAt, draw)
  await putAttempt(attempted)
  logAttempt(attempted, finishedAt.getTime() - startedAt.getTime())
}

const logAttempt = (delivery: Delivery, milliseconds: number): void => {
  log.info('delivery attempted', {
    delivery_id: deliveryId(delivery.reference, delivery.n),
    event_id: eventId(delivery.reference, delivery.n),
    event: eventTypes[delivery.event].event,
    reference: delivery.reference,
    partner: delivery.partner,
    attempt: delivery.attemptCount,
    attempts_max: delivery.attemptsMax,
    status: delivery.status,
    response_code: delivery.responseCode,
    cause: delivery.cause,
    next_attempt_at: delivery.nextAttemptAt,
    milliseconds,
  })
}

export const handler = deliverWebhook(real)
