import type { Count } from '../../domain/page.ts'
import { maskPhone } from '../../domain/phone.ts'
import type { Recovery } from '../../domain/webhooks/recovery.ts'
import { deliveryWithAttempts, type LoggedDelivery } from '../delivery.ts'

const hiddenMembers = (members: object) =>
  Object.fromEntries(Object.keys(members).map((name) => [name, null]))

/** Masks the customer, as in the views of a debit: operators see neither name nor account. */
const withoutCustomer = (body: object): unknown =>
  JSON.parse(JSON.stringify(body), (name, value) =>
    name === 'customer' && typeof value?.phone_number === 'string'
      ? { ...hiddenMembers(value), phone_number: maskPhone(value.phone_number) }
      : value,
  )

export type SentDelivery = ReturnType<typeof sentDeliveryView>

/** Shows a delivery with the sent body. */
export const sentDeliveryView = (log: LoggedDelivery, body: object) => ({
  ...deliveryWithAttempts(log),
  body: withoutCustomer(body),
})

export type RecoveryResult = ReturnType<typeof recoveryView>

export const recoveryView = (
  { id, provider, since, until }: Recovery,
  { count, isAtLeast }: Count,
) => ({
  recovery: id,
  provider,
  since: since.toISOString(),
  until: until.toISOString(),
  deliveries: count,
  is_at_least: isAtLeast,
})
