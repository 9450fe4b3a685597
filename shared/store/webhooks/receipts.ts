import { noneRemain } from '../../domain/complete.ts'
import type { Reference } from '../../domain/ids.ts'
import { type Delivery, type FirstSuccess, firstSuccess } from '../../domain/webhooks/delivery.ts'
import { isChargeEvent } from '../../domain/webhooks/event.ts'
import { keys } from '../keys.ts'
import { recordExpiry } from '../retention.ts'
import { fromStored, type Stored, toStored } from '../stored.ts'
import * as db from '../table.ts'

// One item, the receipt, has the events of a charge that were delivered at the first attempt. It is
// written once. A record of such an event is created only when the receipt exists, which may be
// empty, so that concurrent workers never leave an event in both without its attempts in the record.

type StoredEvent = Pick<Delivery, 'n' | 'generation' | 'event' | 'attemptsMax'> & {
  occurredAt: string
  attempt: Omit<Stored<FirstSuccess['last']>, 'number' | 'cause'>
}

type ReceiptItem = Pick<Delivery, 'reference' | 'provider'> & { events: StoredEvent[] }

/** The receipt has the reference and the provider of all its events. */
const toStoredEvent = ({ reference: _, provider: _provider, last, ...first }: FirstSuccess) => {
  const { n, generation, event, occurredAt, attemptsMax, ...others } = first
  noneRemain(others)
  const { number, cause, ...attempt } = last
  return {
    n,
    generation,
    event,
    attemptsMax,
    ...toStored({ occurredAt }),
    attempt: toStored(attempt),
  }
}

export const isReceipt = ({ sk }: db.Item): boolean => sk === RECEIPT

const RECEIPT = keys.receipt('' as Reference).sk

export const fromReceiptItem = (item: db.Item): Delivery[] => {
  const { events, reference, provider } = db.withoutKeys<ReceiptItem>(item)
  return events.map(({ attempt, ...event }) =>
    firstSuccess({
      ...fromStored<Omit<FirstSuccess, 'last' | 'reference' | 'provider'>>(event, {
        occurredAt: true,
      }),
      reference,
      provider,
      last: {
        ...fromStored<FirstSuccess['last']>(attempt, { at: true, sentAt: true }),
        number: 1,
        cause: null,
      },
    }),
  )
}

type ReceiptOwner = Pick<Delivery, 'reference' | 'provider' | 'occurredAt'>

/** Records first successes of a charge's events. Returns false if the receipt exists. */
export const putReceipt = (
  { reference, provider, occurredAt }: ReceiptOwner,
  events: readonly FirstSuccess[],
): Promise<boolean> =>
  db.putIf(
    {
      ...keys.receipt(reference),
      entity: 'receipt',
      reference,
      provider,
      events: events.map(toStoredEvent),
      ...recordExpiry(occurredAt),
    },
    db.isNew,
  )

/** Excludes an event from the receipt. Returns false if the receipt has it. */
export const excludeFromReceipt = async (delivery: Delivery): Promise<boolean> => {
  if (!isChargeEvent(delivery.n) || (await putReceipt(delivery, []))) return true
  const events = await db.find(keys.receipt(delivery.reference), fromReceiptItem)
  return !events?.some(({ n }) => n === delivery.n)
}
