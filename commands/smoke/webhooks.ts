import { eventually, expectParts, Mismatch } from '../expect.ts'
import { findIn, paths } from './api.ts'
import type { CheckDeps, CheckSequence } from './checks.ts'

/** Checks of the events of a debit: received, in the feed, and in the delivery records. */

const DELIVERY_SECONDS = 45
/** Longer, because a redelivery waits until the first attempt is recorded. */
const REDELIVERY_SECONDS = 75

type FeedEvent = {
  event: string
  sequence: number
  data: { transaction?: { reference: string; status: string } }
}

type DeliveryRecord = { id: number; event: string; event_id: string; attempt_count: number }

export const webhookChecks = (
  { api, objects, receiver, signal }: CheckDeps,
  getDebit: () => { reference: string },
  outcome: 'completed' | 'failed',
): CheckSequence => {
  const { token } = objects
  const statuses = ['created', 'pending', 'processing', outcome]
  const events = statuses.map((status, sequence) => ({
    event: `transaction.${status}`,
    sequence,
    status,
  }))

  const listRecords = async () => {
    const path = paths.deliveries(getDebit().reference)
    return (await api.expect({ path, token }, 200)).body.data as DeliveryRecord[]
  }

  const readFeed = async () => {
    const { body } = await api.expect({ path: `${paths.events}?per_page=100`, token }, 200)
    const feed = body.data as FeedEvent[]
    return feed.flatMap(({ event, sequence, data: { transaction } }) =>
      transaction?.reference === getDebit().reference
        ? [{ event, sequence, status: transaction.status }]
        : [],
    )
  }

  const expectReceived = (reference: string) => {
    const received = receiver?.eventsOf(reference) ?? []
    // An event can arrive more than once.
    const first = [...new Map(received.map((event) => [event.eventId, event])).values()]
    const problem = received.find((event) => event.problem)?.problem
    if (problem) throw new Mismatch('valid signatures', problem)
    expectParts(first, events)
  }

  const redeliver = async () => {
    const records = await listRecords()
    const { id, event_id, attempt_count } = findIn<DeliveryRecord>(records, {
      event: `transaction.${outcome}`,
    })
    await api.expect({ method: 'POST', path: paths.redelivery(id), token }, 202)
    await eventually(
      async () => {
        const record = findIn<DeliveryRecord>(await listRecords(), { event_id })
        if (record.attempt_count <= attempt_count) throw new Mismatch('another attempt', record)
        if (!receiver) return
        const arrivals = receiver
          .eventsOf(getDebit().reference)
          .filter(({ eventId }) => eventId === event_id)
        const ids = new Set(arrivals.map(({ deliveryId }) => deliveryId))
        if (ids.size < 2) throw new Mismatch('two X-SVC-Delivery-ID', [...ids])
      },
      { seconds: REDELIVERY_SECONDS, signal },
    )
  }

  const waitOptions = { seconds: DELIVERY_SECONDS, signal }
  return [
    ...(receiver
      ? [
          {
            name: `webhooks-of-${outcome}-debit`,
            run: () => eventually(async () => expectReceived(getDebit().reference), waitOptions),
          },
        ]
      : []),
    {
      name: `events-of-${outcome}-debit`,
      run: () =>
        eventually(async () => {
          // The feed can repeat an event.
          const feed = new Map((await readFeed()).map((event) => [event.sequence, event]))
          expectParts(
            [...feed.values()].sort((a, b) => a.sequence - b.sequence),
            events,
          )
        }, waitOptions),
    },
    {
      name: `deliveries-of-${outcome}-debit`,
      run: () =>
        eventually(async () => {
          const records = await listRecords()
          for (const { event } of events) {
            const record = findIn<DeliveryRecord>(records, { event })
            // Without a receiver any result of an attempt counts.
            if (receiver) expectParts(record, { event, status: 'delivered' })
            else if (record.attempt_count === 0) throw new Mismatch('an attempt', record)
          }
        }, waitOptions),
    },
    ...(outcome === 'completed' ? [{ name: 'redelivery', run: redeliver }] : []),
  ]
}
