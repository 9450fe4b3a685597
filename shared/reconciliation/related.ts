import type { Debit, Facts } from '../domain/debits/debit.ts'
import type { Refund } from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
import type { Line } from '../domain/settlement/batch.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import type { Webhook } from '../domain/webhooks/webhook.ts'

/** A debit with its lines in the batches that it names. */
export type SettledRecord = {
  debit: Debit
  line: Line | undefined
  adjustment: Line | undefined
}

/** A debit with all items that belong to it. */
export type DebitRecord = SettledRecord & {
  /** The debit that the provider's reference points to. */
  claimedBy: Reference | undefined
  /** The item that the uuid points to. */
  pointer: Partial<Facts> | undefined
  /** By event number. */
  deliveries: readonly (Delivery | undefined)[]
  /** Read only for a reversed debit. */
  refund: Refund | undefined
}

export type Subscription = Pick<Webhook, 'events' | 'since'> | undefined

/** Returns the time of each event, never before the previous one: clocks differ. */
export const timesOf = ({ history }: Debit): number[] => {
  let latest = 0
  return history.map(({ at }) => {
    latest = Math.max(latest, at.getTime())
    return latest
  })
}

/** Returns the time of the first event of a type. */
export const timeOf = (debit: Debit, type: string): Date | undefined => {
  const index = debit.history.findIndex((entry) => entry.type === type)
  return index < 0 ? undefined : new Date(timesOf(debit)[index] ?? 0)
}
