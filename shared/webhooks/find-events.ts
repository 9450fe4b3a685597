import { type BatchId, isBatchId, type Reference } from '../domain/ids.ts'
import type { EventKey } from '../domain/webhooks/event.ts'
import { findDebits, type Unreadable } from '../store/debits/debits.ts'
import { findBatches } from '../store/settlement/batches.ts'
import { findWithDeliveries, listDeliveries } from '../store/webhooks/deliveries.ts'
import { debitEvents, settlementEvent } from '../views/webhook-payload.ts'

/** Returns all events of debits and batches; none for references that do not exist. */
export const findEvents = async (references: readonly Reference[], unreadable?: Unreadable) => {
  const batchIds = references.filter(isBatchId) as string[] as BatchId[]
  const [debits, batches] = await Promise.all([
    findDebits(
      references.filter((reference) => !isBatchId(reference)),
      unreadable,
    ),
    findBatches(batchIds),
  ])
  return [
    ...[...debits.values()].flatMap(debitEvents),
    ...batches.flatMap((batch) => settlementEvent(batch) ?? []),
  ]
}

/** Reads the events of one debit or batch and their deliveries. */
export const findWithEvents = async (reference: Reference) => {
  if (isBatchId(reference)) {
    const [events, deliveries] = await Promise.all([
      findEvents([reference]),
      listDeliveries(reference),
    ])
    return { events, deliveries }
  }
  const { debit, deliveries } = await findWithDeliveries(reference)
  return { events: debit ? debitEvents(debit) : [], deliveries }
}

/** Returns the event of an id; undefined if it belongs to another generation. */
export const findEvent = async ({ reference, n, generation }: Required<EventKey>) =>
  (await findEvents([reference])).find(
    (event) => event.n === n && (event.generation ?? 1) === generation,
  )
