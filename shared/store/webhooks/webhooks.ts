import { defined } from '../../domain/complete.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { StoredWebhook, Webhook } from '../../domain/webhooks/webhook.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { type SecretOwner, seal, unseal } from '../sealing.ts'
import { changeSettings, removeSettings, settingsIn } from '../settings.ts'
import { find, type Item, type Write } from '../table.ts'
import { findRecentHealth } from './health.ts'

/** A stored webhook: secrets sealed, times as ISO text. */
type WebhookItem = Omit<Webhook, 'previous' | 'since'> & {
  previous?: { secret: string; until: string }
  since?: string
}

const findItem = (id: ProviderId) => find(keys.webhook(id), settingsIn<WebhookItem>)

const ownerOf = (id: ProviderId): SecretOwner => ({ kind: 'webhook', id })

/** Omits the secrets that cannot be opened. */
const opened = async (
  { previous, since, secret: sealed, ...item }: WebhookItem,
  id: ProviderId,
): Promise<StoredWebhook> => {
  const secret = await unseal(sealed, ownerOf(id))
  const earlier = previous && (await unseal(previous.secret, ownerOf(id)))
  return {
    ...item,
    ...(since && { since: new Date(since) }),
    ...defined({ secret }),
    ...(earlier && { previous: { secret: earlier, until: new Date(previous.until) } }),
  }
}

const openedBy = (id: ProviderId) => (item: Item) => opened(settingsIn<WebhookItem>(item), id)

const sealed = async (
  { previous, since, ...webhook }: Webhook,
  id: ProviderId,
  runtime: Runtime,
): Promise<WebhookItem> => ({
  ...webhook,
  ...(since && { since: since.toISOString() }),
  secret: await seal(webhook.secret, ownerOf(id), runtime),
  ...(previous && {
    previous: {
      secret: await seal(previous.secret, ownerOf(id), runtime),
      until: previous.until.toISOString(),
    },
  }),
})

/** Reads a provider's webhook, uncached, so that a change takes effect immediately. */
export const findWebhook = async (id: ProviderId): Promise<StoredWebhook | undefined> => {
  const item = await findItem(id)
  return item && opened(item, id)
}

/** Reads a provider's webhook and its health, uncached. */
export const findWebhookWithHealth = async (id: ProviderId) => {
  const [webhook, health] = await Promise.all([findWebhook(id), findRecentHealth(id)])
  return { webhook, health }
}

export const changeWebhook = <T extends Webhook | Refusal | undefined>(
  id: ProviderId,
  change: (previous: StoredWebhook | undefined) => T | Promise<T>,
  alongside: (previous: StoredWebhook | undefined, next: StoredWebhook) => readonly Write[],
  runtime: Runtime,
): Promise<T> => {
  // Each change returns a webhook that can sign.
  const to = (webhook: StoredWebhook) => sealed(webhook as Webhook, id, runtime)
  const form = { entity: 'webhook', from: openedBy(id), to }
  return changeSettings(keys.webhook(id), form, change, alongside, runtime)
}

/** Removes a webhook. Returns false when it did not exist. */
export const removeWebhook = (
  id: ProviderId,
  alongside: (previous: StoredWebhook) => readonly Write[],
  runtime: Runtime,
): Promise<boolean> => removeSettings(keys.webhook(id), openedBy(id), alongside, runtime)

/** Reads a webhook without its secrets. */
export const findWebhookSettings = async (id: ProviderId) => {
  const item = await findItem(id)
  if (!item) return undefined
  const { secret, previous, since, ...settings } = item
  return { ...settings, ...(since && { since: new Date(since) }) }
}
