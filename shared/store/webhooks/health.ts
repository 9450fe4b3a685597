import type { ProviderId } from '../../domain/providers/provider.ts'
import type { WebhookHealth } from '../../domain/webhooks/health.ts'
import { ttlCache } from '../cache.ts'
import { withoutJitter } from '../conflicts.ts'
import { keys } from '../keys.ts'
import { optimistically } from '../optimistic.ts'
import { putWith } from '../settings.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'

type HealthItem = { version: number } & Partial<Record<keyof WebhookHealth, string>>

const readItem = async (
  provider: ProviderId,
  options: Parameters<typeof db.read>[1] = {},
): Promise<HealthItem> => {
  const item = await db.read<db.Item>(keys.webhookHealth(provider), options)
  return item ? db.withoutKeys<HealthItem>(item) : { version: 0 }
}

const TIMES = {
  failingSince: true,
  exhaustedSince: true,
  goneSince: true,
  slowSince: true,
  disabledAt: true,
  recoveredAt: true,
  removedAt: true,
} as const

const fromItem = ({ version, ...health }: HealthItem): WebhookHealth =>
  fromStored<WebhookHealth>(health, TIMES)

export const findHealth = async (provider: ProviderId) => fromItem(await readItem(provider))

/**
 * Reads the health for an attempt, at half the cost. It may miss the last writes, as it misses those
 * during the attempt; a change of the health reads it again.
 */
export const findRecentHealth = async (provider: ProviderId) =>
  fromItem(await readItem(provider, { isConsistent: false }))

const slow = ttlCache<boolean>(10_000)

/** Reports whether a webhook is slow. Cached: the worker that gets its event checks again. */
export const isSlow = (provider: ProviderId, now: Date): Promise<boolean> =>
  slow(provider, now, async () => (await findHealth(provider)).slowSince !== undefined)

/** @param change returns the unchanged object to write nothing */
export const changeHealth = (
  provider: ProviderId,
  change: (health: WebhookHealth) => WebhookHealth | Promise<WebhookHealth>,
  alongside: (previous: WebhookHealth, next: WebhookHealth) => readonly db.Write[] = () => [],
): Promise<WebhookHealth> =>
  optimistically(`The health of ${provider}'s webhook`, async () => {
    const item = await readItem(provider)
    const previous = fromItem(item)
    const next = await change(previous)
    if (next === previous) return next
    const others = alongside(previous, next)
    const put = putOf(provider, next, item.version)
    return (await putWith(put, others, withoutJitter)) ? next : undefined
  })

const putOf = (provider: ProviderId, health: WebhookHealth, version: number) => {
  const key = { ...keys.webhookHealth(provider), entity: 'webhook-health' }
  const item = { ...key, ...toStored(health), version: version + 1 }
  return db.putWrite(item, version === 0 ? db.isNew : db.hasVersion(version)).Put
}
