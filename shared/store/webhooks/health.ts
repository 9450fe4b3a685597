import type { ProviderId } from '../../domain/providers/provider.ts'
import type { WebhookHealth } from '../../domain/webhooks/health.ts'
import { environment } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { putWith } from '../settings.ts'
import { read, tableName, type Write, withoutKeys } from '../table.ts'

type Item = { version: number } & Partial<Record<keyof WebhookHealth, string>>

const readItem = async (provider: ProviderId): Promise<Item> => {
  const item = await read<Record<string, unknown>>(keys.webhookHealth(provider))
  return item ? withoutKeys<Item>(item) : { version: 0 }
}

const fromItem = ({ version, ...times }: Item): WebhookHealth =>
  Object.fromEntries(Object.entries(times).map(([name, at]) => [name, new Date(at)]))

export const findHealth = async (provider: ProviderId): Promise<WebhookHealth> =>
  fromItem(await readItem(provider))

const slow = ttlCache<{ isSlow: boolean }>({ entriesMax: 10_000 })

/** Whether a webhook's events wait apart; remembered, as whoever takes one looks again. */
export const isSlow = async (provider: ProviderId, now: Date): Promise<boolean> => {
  const when = { now, seconds: environment.cacheSeconds }
  const found = await slow.get(provider, when, async () => ({
    isSlow: (await findHealth(provider)).slowSince !== undefined,
  }))
  return found?.isSlow ?? false
}

// Each lost race is a turn that another worker wrote, and fifty may be at work.
const RACES_MAX = 50

/**
 * Writes what turned, if anything did, on what stands: another worker may have been first.
 * @param change the very same object where nothing is to be written
 */
export const changeHealth = async (
  provider: ProviderId,
  change: (health: WebhookHealth) => WebhookHealth | Promise<WebhookHealth>,
  alongside: (before: WebhookHealth, after: WebhookHealth) => readonly Write[] = () => [],
): Promise<WebhookHealth> => {
  for (let race = 1; race <= RACES_MAX; race += 1) {
    const item = await readItem(provider)
    const before = fromItem(item)
    const after = await change(before)
    if (after === before) return after
    const others = alongside(before, after)
    if (await putWith(putOf(provider, after, item.version), others)) return after
  }
  throw new Error(
    `The health of ${provider}'s webhook changed ${RACES_MAX} times during one update`,
  )
}

const putOf = (provider: ProviderId, health: WebhookHealth, version: number) => {
  const times = Object.entries(health).map(([name, at]) => [name, at.toISOString()])
  return {
    TableName: tableName(),
    Item: {
      ...keys.webhookHealth(provider),
      entity: 'webhook-health',
      ...Object.fromEntries(times),
      version: version + 1,
    },
    ConditionExpression: version === 0 ? 'attribute_not_exists(pk)' : '#version = :version',
    ...(version === 0
      ? {}
      : {
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':version': version },
        }),
  }
}
