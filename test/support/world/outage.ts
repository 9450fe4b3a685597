import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { advance, type Debit } from '../../../shared/domain/debits/debit.ts'
import { newDelivery, recordAttempt } from '../../../shared/domain/webhooks/delivery.ts'
import { toDebitItem } from '../../../shared/store/debits/debit-item.ts'
import { table, tableName } from '../../../shared/store/table.ts'
import { replaceDelivery } from '../../../shared/store/webhooks/deliveries.ts'
import { appendToFeed } from '../../../shared/store/webhooks/feed.ts'
import { changeHealth } from '../../../shared/store/webhooks/health.ts'
import { NOON, pendingDebit } from '../examples.ts'
import { granted } from '../refused.ts'
import type { World } from './world.ts'

const failedDebit = (): Debit => {
  const cause = { at: NOON, by: 'bank:GCB', requestId: 'request-2' }
  const changes = { errorMessage: 'No such account', errorCode: 'invalid_account' } as const
  return granted(advance(pendingDebit(), { ...cause, to: 'failed', changes }))
}

const MADE = { id: 'dlv_1_1', at: NOON, milliseconds: 5, address: null, sentAs: '' }

const putAbandoned = async ({ facts, history }: Debit): Promise<void> => {
  const { reference, provider } = facts
  const records = history.map(({ type, at }, n) => {
    const event = { reference, n, provider, type, at }
    const none = { kind: 'unreached', cause: 'refused' } as const
    return recordAttempt(newDelivery(event, { attemptsMax: 1 }), none, MADE, 0)
  })
  await Promise.all(records.map((record) => replaceDelivery(undefined, record)))
}

/** Leaves a world as an outage does that is long past: debits of which no event was received. */
export const leaveOutage = async (world: World, debits: number): Promise<void> => {
  const failed = Array.from({ length: debits }, failedDebit)
  await Promise.all(
    failed.map(async (debit) => {
      // Somebody has looked after each since.
      const { work, due, ...Item } = toDebitItem(debit)
      await table.send(new PutCommand({ TableName: tableName(), Item }))
      await putAbandoned(debit)
    }),
  )
  for (const { facts, history } of failed) {
    const entries = history.map((_, n) => ({ reference: facts.reference, n }))
    await appendToFeed(world.provider, entries, NOON)
  }
  await changeHealth(world.provider, () => ({ failingSince: NOON, exhaustedSince: NOON }))
  await world.forget()
}
