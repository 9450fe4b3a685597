import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { PartnerId, Webhook } from '../domain/partner.ts'
import { seal, unseal } from './sealing.ts'
import { held, keys, read, remove, table, tableName, withoutKeys } from './table.ts'

/** A webhook as it is kept: its secrets sealed, and times as text. */
type WebhookItem = Omit<Webhook, 'previous' | 'since'> & {
  previous?: { secret: string; until: string }
  since?: string
}

// Each lost race is another operator's success, and a partner has few of them.
const RACES_MAX = 50

const findItem = async (id: PartnerId): Promise<WebhookItem | undefined> => {
  const item = await read<Record<string, unknown>>(keys.webhook(id))
  return item && withoutKeys<WebhookItem>(item)
}

const opened = async (
  { previous, since, ...item }: WebhookItem,
  id: PartnerId,
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
  id: PartnerId,
): Promise<WebhookItem> => ({
  ...webhook,
  ...(since && { since: since.toISOString() }),
  secret: await seal(webhook.secret, id),
  ...(previous && {
    previous: { secret: await seal(previous.secret, id), until: previous.until.toISOString() },
  }),
})

/** Where a partner's events go; read afresh for every attempt, so a change holds at once. */
export const findWebhook = async (id: PartnerId): Promise<Webhook | undefined> => {
  const item = await findItem(id)
  return item && opened(item, id)
}

/**
 * Writes what `change` makes of the webhook as it stands, and nothing when that is undefined or the
 * very same object. Of two operators at once the one who comes second changes what the first one
 * wrote, so no secret is lost.
 * @returns what stands now
 */
export const changeWebhook = async <T extends Webhook | undefined>(
  id: PartnerId,
  change: (before: Webhook | undefined) => T,
): Promise<T> => {
  for (let races = 0; races < RACES_MAX; races += 1) {
    const item = await findItem(id)
    const before = item && (await opened(item, id))
    const after = change(before)
    if (after === undefined || after === before) return after
    if (await replace(id, item, await sealed(after, id))) return after
  }
  throw new Error(`The webhook of ${id} was changed by others ${RACES_MAX} times`)
}

/** A secret is sealed anew with every write, so the sealed one read before names one version. */
const replace = (
  id: PartnerId,
  before: WebhookItem | undefined,
  after: WebhookItem,
): Promise<boolean> =>
  held(
    table.send(
      new PutCommand({
        TableName: tableName(),
        Item: { ...keys.webhook(id), entity: 'webhook', ...after },
        ...(before
          ? {
              ConditionExpression: 'secret = :before',
              ExpressionAttributeValues: { ':before': before.secret },
            }
          : { ConditionExpression: 'attribute_not_exists(pk)' }),
      }),
    ),
  )

/** @returns false when there was none */
export const removeWebhook = (id: PartnerId): Promise<boolean> => remove(keys.webhook(id))

/** The settings alone, for who signs nothing. */
export const findWebhookSettings = async (
  id: PartnerId,
): Promise<Omit<Webhook, 'secret' | 'previous'> | undefined> => {
  const item = await findItem(id)
  if (!item) return undefined
  const { secret, previous, since, ...settings } = item
  return { ...settings, ...(since && { since: new Date(since) }) }
}
