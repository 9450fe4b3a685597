import type { Reference } from '../domain/ids.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { FailureReason } from '../domain/webhooks/attempt.ts'
import { isChargeEvent } from '../domain/webhooks/event.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { findWebhookWithHealth } from '../store/webhooks/webhooks.ts'
import { attemptDelivery, type EndedAttempt, isFirstSuccess, saveAttempts } from './attempt.ts'
import { findWithEvents } from './find-events.ts'

/** Consecutive events of one debit or batch, and the number of the attempt at each. */
type EventRange = { reference: Reference; n: number; through?: number | undefined; attempt: number }

const TIMED_OUT = 4408 satisfies FailureReason

/**
 * Returns a function for the messages of one invocation, which share the read of each webhook. It
 * attempts each event of a range in order.
 * @returns the provider whose remaining events must be sidelined
 */
export const newDeliverer = (
  { skipsSlowReceivers }: { skipsSlowReceivers: boolean },
  runtime: Runtime,
) => {
  const webhooks = new Map<ProviderId, ReturnType<typeof findWebhookWithHealth>>()
  const webhookOf = (provider: ProviderId) => {
    const reading = webhooks.get(provider) ?? findWebhookWithHealth(provider)
    webhooks.set(provider, reading)
    return reading
  }
  return async (range: EventRange): Promise<{ provider: ProviderId } | undefined> => {
    const { n: from, through = from } = range
    const { events: all, deliveries } = await findWithEvents(range.reference)
    const events = all.filter(({ n }) => n >= from && n <= through)
    const [first] = events
    // A retry would not help: the debit has expired, or a restore has lost it.
    if (!first) {
      log.error('event not found', { reference: range.reference, n: from })
      return undefined
    }
    const { provider } = first
    const { webhook, health } = await webhookOf(provider)
    // A receiver may hang at one event only. After a timeout, the sidelined queue gives the event its full timeout.
    const timedOut = deliveries.some(({ n, reason }) => n === from && reason === TIMED_OUT)
    if (webhook && skipsSlowReceivers && (health.slowSince || timedOut)) return { provider }
    const request = { number: range.attempt, webhook, health, skipsSlowReceivers }
    const unsaved: EndedAttempt[] = []
    try {
      for (const [index, event] of events.entries()) {
        const previous = deliveries.find(({ n }) => n === event.n)
        const attempt = await attemptDelivery({ ...request, event, previous }, runtime)
        if (!attempt) continue
        unsaved.push(attempt)
        const next = events[index + 1]
        const isSidelined = attempt.observed.isSlow && skipsSlowReceivers && next !== undefined
        // The next worker skips recorded attempts.
        if (isSidelined) return { provider }
        // One receipt has both events of a charge.
        const waits = isFirstSuccess(attempt) && next !== undefined && isChargeEvent(next.n)
        if (!waits) await saveAttempts(unsaved.splice(0), runtime)
      }
    } finally {
      await saveAttempts(unsaved, runtime)
    }
    return undefined
  }
}
