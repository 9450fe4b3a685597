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

type LastStatus = 'completed' | 'failed'
type GetDebit = () => { reference: string }

export const webhookChecks = (
  deps: CheckDeps,
  getDebit: GetDebit,
  outcome: LastStatus,
): CheckSequence => {
  const { receiver, signal } = deps
  const statuses = ['created', 'pending', 'processing', outcome]
  const events = statuses.map((status, sequence) => ({
    event: `transaction.${status}`,
    sequence,
    status,
  }))
  const expectReceived = (reference: string) => {
    const received = receiver?.eventsOf(reference) ?? []
    // An event can arrive more than once.
    const first = [...new Map(received.map((event) => [event.eventId, event])).values()]
    const problem = received.find((event) => event.problem)?.problem
    if (problem) throw new Mismatch('valid signatures', problem)
    expectParts(first, events)
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
          const feed = new Map(
            (await readFeed(deps, getDebit)).map((event) => [event.sequence, event]),
          )
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
          const records = await listRecords(deps, getDebit)
          for (const { event } of events) {
            const record = findIn<DeliveryRecord>(records, { event })
            // Without a receiver any result of an attempt counts.
            if (receiver) expectParts(record, { event, status: 'delivered' })
            else if (record.attempt_count === 0) throw new Mismatch('an attempt', record)
          }
        }, waitOptions),
    },
    ...(outcome === 'completed'
      ? [{ name: 'redelivery', run: () => redeliver(deps, getDebit, outcome) }]
      : []),
  ]
}

const listRecords = async ({ api, objects: { token } }: CheckDeps, getDebit: GetDebit) => {
  const path = paths.deliveries(getDebit().reference)
  return (await api.expect({ path, token }, 200)).body.data as DeliveryRecord[]
}

const readFeed = async ({ api, objects: { token } }: CheckDeps, getDebit: GetDebit) => {
  const { body } = await api.expect({ path: `${paths.events}?per_page=100`, token }, 200)
  const feed = body.data as FeedEvent[]
  return feed.flatMap(({ event, sequence, data: { transaction } }) =>
    transaction?.reference === getDebit().reference
      ? [{ event, sequence, status: transaction.status }]
      : [],
  )
}

const redeliver = async (deps: CheckDeps, getDebit: GetDebit, outcome: LastStatus) => {
  const { api, objects, receiver, signal } = deps
  const records = await listRecords(deps, getDebit)
  const { id, event_id, attempt_count } = findIn<DeliveryRecord>(records, {
    event: `transaction.${outcome}`,
  })
  await api.expect({ method: 'POST', path: paths.redelivery(id), token: objects.token }, 202)
  await eventually(
    async () => {
      const record = findIn<DeliveryRecord>(await listRecords(deps, getDebit), { event_id })
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
