import type { Debit, Facts } from '../domain/debits/debit.ts'
import type { Refund } from '../domain/debits/refund.ts'
import type { Reference } from '../domain/ids.ts'
import type { Line } from '../domain/settlement/batch.ts'
import type { Delivery } from '../domain/webhooks/delivery.ts'
import type { Webhook } from '../domain/webhooks/webhook.ts'

/** A debit with its lines. */
export type SettledRecord = {
  debit: Debit
  /** In the batch that it says it is settled in. */
  line: Line | undefined
  /** In the batch that it says takes the line back. */
  adjustment: Line | undefined
}

/** A debit as the table has it, with everything that is kept beside it. */
export type DebitRecord = SettledRecord & {
  /** The debit that the provider's own reference names. */
  claimedBy: Reference | undefined
  /** What the uuid points to. */
  pointer: Partial<Facts> | undefined
  /** By the number of the event; undefined: it has no record. */
  deliveries: readonly (Delivery | undefined)[]
  /** Read for a reversed debit only. */
  refund: Refund | undefined
}

/** What its provider wants to be told, if anything. */
export type Subscription = Pick<Webhook, 'events' | 'since'> | undefined

/** When each event happened; as clocks differ, none before the one that it follows. */
export const timesOf = ({ history }: Debit): number[] => {
  let latest = 0
  return history.map(({ at }) => {
    latest = Math.max(latest, at.getTime())
    return latest
  })
}

/** When an event of this type happened first; undefined: it never did. */
export const timeOf = (debit: Debit, type: string): Date | undefined => {
  const n = debit.history.findIndex((entry) => entry.type === type)
  return n < 0 ? undefined : new Date(timesOf(debit)[n] ?? 0)
}
