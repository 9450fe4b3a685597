import type { ProviderId } from '../../domain/providers/provider.ts'
import type { Webhook } from '../../domain/webhooks/webhook.ts'
import { keys } from '../keys.ts'
import { seal, unseal } from '../sealing.ts'
import { changeSettings, removeSettings, settingsIn } from '../settings.ts'
import { read, type Write } from '../table.ts'

/** A webhook as it is kept: its secrets sealed, and times as text. */
type WebhookItem = Omit<Webhook, 'previous' | 'since'> & {
  previous?: { secret: string; until: string }
  since?: string
}

const findItem = async (id: ProviderId): Promise<WebhookItem | undefined> => {
  const item = await read<Record<string, unknown>>(keys.webhook(id))
  return item && settingsIn<WebhookItem>(item)
}

const opened = async (
  { previous, since, ...item }: WebhookItem,
  id: ProviderId,
): Promise<Webhook> => ({
  ...item,
  ...(since && { since: new Date(since) }),
  secret: await unseal(item.secret, id),
  ...(previous && {
    previous: { secret: await unseal(previous.secret, id), until: new Date(previous.until) },
  }),
})

const sealed = async (
  { previous, since, ...webhook }: Webhook,
  id: ProviderId,
): Promise<WebhookItem> => ({
  ...webhook,
  ...(since && { since: since.toISOString() }),
  secret: await seal(webhook.secret, id),
  ...(previous && {
    previous: { secret: await seal(previous.secret, id), until: previous.until.toISOString() },
  }),
})

/** Where a provider's events go; read afresh for every attempt, so a change holds at once. */
export const findWebhook = async (id: ProviderId): Promise<Webhook | undefined> => {
  const item = await findItem(id)
  return item && opened(item, id)
}

/** Writes what `change` makes of the webhook as it stands: see {@link changeSettings}. */
export const changeWebhook = <T extends Webhook | undefined>(
  id: ProviderId,
  change: (before: Webhook | undefined) => T,
  alongside?: (before: Webhook | undefined, after: Webhook) => readonly Write[],
): Promise<T> =>
  changeSettings(
    keys.webhook(id),
    {
      entity: 'webhook',
      from: (item) => opened(settingsIn<WebhookItem>(item), id),
      to: (webhook: Webhook) => sealed(webhook, id),
    },
    change,
    alongside,
  )

/** @returns false when there was none */
export const removeWebhook = (
  id: ProviderId,
  alongside: (before: Webhook) => readonly Write[] = () => [],
): Promise<boolean> =>
  removeSettings(keys.webhook(id), (item) => opened(settingsIn<WebhookItem>(item), id), alongside)

/** The settings alone, for who signs nothing. */
export const findWebhookSettings = async (
  id: ProviderId,
): Promise<Omit<Webhook, 'secret' | 'previous'> | undefined> => {
  const item = await findItem(id)
  if (!item) return undefined
  const { secret, previous, since, ...settings } = item
  return { ...settings, ...(since && { since: new Date(since) }) }
}
