import type { RawDelivery, RawReceipt } from './raw-items.ts'

/** Returns the events of a receipt as deliveries of their own. */
export const deliveriesOf = ({ pk, reference, provider, events }: RawReceipt): RawDelivery[] =>
  events.map(({ attempt, ...event }) => ({
    pk,
    sk: `DELIVERY#0${event.n}`,
    reference,
    provider,
    ...event,
    status: 'delivered',
    attemptCount: 1,
    last: { ...attempt, number: 1, cause: null },
    nextAttemptAt: null,
    deliveredAt: new Date(Date.parse(attempt.at) + attempt.milliseconds).toISOString(),
    failedAt: null,
    reason: null,
    autoRetries: 0,
  }))
