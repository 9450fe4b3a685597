import type { PartnerId, Webhook } from '../domain/partner.ts'
import { seal, unseal } from './sealing.ts'
import { keys, put, read, withoutKeys } from './table.ts'

/** Where a partner's events go; read afresh for every attempt, so a change holds at once. */
export const findWebhook = async (id: PartnerId): Promise<Webhook | undefined> => {
  const item = await read<Record<string, unknown>>(keys.webhook(id))
  if (!item) return undefined
  const webhook = withoutKeys<Webhook>(item)
  return { ...webhook, secret: await unseal(webhook.secret, id) }
}

export const putWebhook = async (id: PartnerId, webhook: Webhook): Promise<void> => {
  const sealed = { ...webhook, secret: await seal(webhook.secret, id) }
  await put(keys.webhook(id), 'webhook', sealed)
}

/** The settings alone, for who signs nothing. */
export const findWebhookSettings = async (
  id: PartnerId,
): Promise<Omit<Webhook, 'secret'> | undefined> => {
  const item = await read<Record<string, unknown>>(keys.webhook(id))
  if (!item) return undefined
  const { secret, ...settings } = withoutKeys<Webhook>(item)
  return settings
}
