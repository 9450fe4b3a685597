import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Delivery } from '../domain/delivery.ts'
import type { Reference } from '../domain/reference.ts'
import { held, keys, read, readCollection, table, tableName, withoutKeys } from './table.ts'

type DeliveryItem = Omit<Delivery, 'nextAttemptAt' | 'deliveredAt' | 'failedAt'> & {
  nextAttemptAt: string | null
  deliveredAt: string | null
  failedAt: string | null
}

const date = (text: string | null): Date | null => (text === null ? null : new Date(text))

export const fromDeliveryItem = (item: Record<string, unknown>): Delivery => {
  const delivery = withoutKeys<DeliveryItem>(item)
  return {
    ...delivery,
    nextAttemptAt: date(delivery.nextAttemptAt),
    deliveredAt: date(delivery.deliveredAt),
    failedAt: date(delivery.failedAt),
  }
}

const toDeliveryItem = (delivery: Delivery) => ({
  ...keys.delivery(delivery.reference, delivery.n),
  entity: 'delivery',
  ...delivery,
  nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
  deliveredAt: delivery.deliveredAt?.toISOString() ?? null,
  failedAt: delivery.failedAt?.toISOString() ?? null,
})

export const findDelivery = async (
  reference: Reference,
  n: number,
): Promise<Delivery | undefined> => {
  const item = await read<Record<string, unknown>>(keys.delivery(reference, n))
  return item && fromDeliveryItem(item)
}

/** All deliveries of one debit, in the order of its events. */
export const listDeliveries = async (reference: Reference): Promise<Delivery[]> => {
  const { pk, prefix } = keys.deliveries(reference)
  return (await readCollection(pk, prefix)).map(fromDeliveryItem)
}

/**
 * Writes the record after its attempt number `attemptCount`. The attempt before it must be the
 * last one written, so two workers on one attempt leave one record, and no message however often
 * repeated goes past the last attempt.
 * @returns false when this attempt is on record already
 */
export const putAttempt = (delivery: Delivery): Promise<boolean> =>
  held(
    table.send(
      new PutCommand({
        TableName: tableName(),
        Item: toDeliveryItem(delivery),
        ConditionExpression:
          ':attempt <= :max AND ((attribute_not_exists(pk) AND :attempt = :first)' +
          ' OR (attemptCount = :before AND #status IN (:pending, :failed)))',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: {
          ':attempt': delivery.attemptCount,
          ':max': delivery.attemptsMax,
          ':first': 1,
          ':before': delivery.attemptCount - 1,
          ':pending': 'pending',
          ':failed': 'failed',
        },
      }),
    ),
  )
