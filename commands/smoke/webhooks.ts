import { expectParts, Mismatch } from '../expect.ts'
import { findIn, paths } from './api.ts'
import type { GetDebit } from './charges.ts'
import type { Smoke } from './checks.ts'

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

export const checkWebhooks = async (
  smoke: Smoke,
  getDebit: GetDebit,
  outcome: 'completed' | 'failed',
) => {
  const { check, within, receiver } = smoke
  const events = ['created', 'pending', 'processing', outcome].map((status, sequence) => ({
    event: `transaction.${status}`,
    sequence,
    status,
  }))
  const soon = (name: string, attempt: () => Promise<void>) =>
    check(`${name}-of-${outcome}-debit`, () => within(DELIVERY_SECONDS, attempt))
  if (receiver)
    await soon('webhooks', async () => {
      const received = receiver.eventsOf(getDebit().reference)
      const problem = received.find((event) => event.problem)?.problem
      if (problem) throw new Mismatch('valid signatures', problem)
      // An event can arrive more than once.
      expectParts([...new Map(received.map((event) => [event.eventId, event])).values()], events)
    })
  await soon('events', async () => {
    // The feed can repeat an event.
    const feed = new Map((await readFeed(smoke, getDebit)).map((event) => [event.sequence, event]))
    const inOrder = [...feed.values()].sort((a, b) => a.sequence - b.sequence)
    expectParts(inOrder, events)
  })
  await soon('deliveries', async () => {
    const records = await listRecords(smoke, getDebit)
    for (const { event } of events) {
      const record = findIn<DeliveryRecord>(records, { event })
      // Without a receiver any result of an attempt counts.
      if (receiver) expectParts(record, { event, status: 'delivered' })
      else if (record.attempt_count === 0) throw new Mismatch('an attempt', record)
    }
  })
  if (outcome === 'completed') await check('redelivery', () => redeliver(smoke, getDebit))
}

const listRecords = ({ api, objects }: Smoke, getDebit: GetDebit) =>
  api.read<DeliveryRecord[]>(paths.deliveries(getDebit().reference), objects.token)

const readFeed = async ({ api, objects }: Smoke, getDebit: GetDebit) => {
  const feed = await api.read<FeedEvent[]>(`${paths.events}?per_page=100`, objects.token)
  return feed.flatMap(({ event, sequence, data: { transaction } }) =>
    transaction?.reference === getDebit().reference
      ? [{ event, sequence, status: transaction.status }]
      : [],
  )
}

const redeliver = async (smoke: Smoke, getDebit: GetDebit) => {
  const { api, objects, receiver, within } = smoke
  const records = await listRecords(smoke, getDebit)
  const { id, event_id, attempt_count } = findIn<DeliveryRecord>(records, {
    event: 'transaction.completed',
  })
  await api.expect({ method: 'POST', path: paths.redelivery(id), token: objects.token }, 202)
  await within(REDELIVERY_SECONDS, async () => {
    const record = findIn<DeliveryRecord>(await listRecords(smoke, getDebit), { event_id })
    if (record.attempt_count <= attempt_count) throw new Mismatch('another attempt', record)
    if (!receiver) return
    const arrivals = receiver
      .eventsOf(getDebit().reference)
      .filter(({ eventId }) => eventId === event_id)
    const ids = new Set(arrivals.map(({ deliveryId }) => deliveryId))
    if (ids.size < 2) throw new Mismatch('two X-SVC-Delivery-ID', [...ids])
  })
}
