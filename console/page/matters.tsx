import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { agesText } from './ages.ts'
import { isAboveZero } from './amounts.ts'
import { mayUse, operate, serviceNow, settings } from './client.ts'
import { serviceDay } from './parts/filters.tsx'
import { pending } from './pending.ts'
import { place } from './route.ts'
import { useCall } from './use-operator.ts'

/** What is open, for the screen Now and the numbers in the navigation. */

export type Matter = {
  title: string
  /** The screen that shows it, with its filters. */
  screen: string
  filters?: Record<string, string>
  count: number
  /** When the oldest began. */
  since: string | null
  detail?: ComponentChildren
}

export const matters = signal<readonly Matter[]>([])

const oldest = (times: readonly (string | null)[]): string | null =>
  times.reduce((first, at) => (first && (!at || first <= at) ? first : at), null)

const matter = <T,>(
  list: readonly T[] | undefined,
  row: Omit<Matter, 'count' | 'since' | 'detail'>,
  sinceOf: (one: T) => string | null,
  detailOf: (one: T) => string = () => '',
): Matter[] => {
  if (!list) return []
  const detail = list.map(detailOf).filter(Boolean).join(', ')
  return [{ ...row, count: list.length, since: oldest(list.map(sinceOf)), detail }]
}

/**
 * Reads the lists: in a sandbox after each change, of a stage at the screen Now alone, because the service
 * records reads of customers' data.
 */
export const useMatters = (): void => {
  const isRead = settings.value?.is_live === true || place.value.screen === 'now'
  const read = <T,>(
    noun: Parameters<typeof mayUse>[0],
    entities: readonly string[],
    load: () => Promise<T>,
  ) => useCall(['matters', noun], isRead && mayUse(noun) ? load : undefined, { entities }).data
  const all = { limit: '1000' } as const
  const live = (...entities: string[]) => (settings.value?.is_live ? entities : [])
  const exceptions = read('exception', live('exception'), () =>
    operate('exception', 'list', { ...all, status: 'open' }),
  )
  const banks = read('bank', ['bank', 'bank-health'], () => operate('bank', 'list', {}))
  const webhooks = read('webhook', ['webhook', 'webhook-health'], () =>
    operate('webhook', 'list', {}),
  )
  const batches = read('settlement', ['batch'], () => operate('settlement', 'list', all))
  const letters = read('dead-letters', live(), () => operate('dead-letters', 'list', {}))
  useEffect(() => {
    const times = (exceptions ?? []).map(({ at }) => at)
    const today = serviceDay()
    matters.value = [
      ...matter(
        exceptions,
        { title: 'Exceptions', screen: 'exceptions', filters: { status: 'open' } },
        ({ at }) => at,
      ).map((row) => ({ ...row, detail: agesText(times, serviceNow()) })),
      ...matter(
        mayUse('approval') ? pending.value : undefined,
        { title: 'Approvals', screen: 'approvals', filters: { status: 'pending' } },
        ({ requested_at }) => requested_at,
      ),
      ...matter(
        banks?.filter(({ health }) => health.state !== 'up'),
        { title: 'Banks that are not up', screen: 'banks' },
        ({ health }) => health.since,
        ({ identifier, health }) => `${identifier} ${health.state}`,
      ),
      ...matter(
        webhooks?.filter(({ health }) => health !== 'healthy'),
        { title: 'Webhooks that fail', screen: 'webhooks' },
        ({ failing_since, disabled_at }) => failing_since ?? disabled_at,
        ({ provider, health }) => `${provider} ${health}`,
      ),
      ...matter(
        batches?.filter(({ status }) => status === 'failed'),
        { title: 'Failed payouts', screen: 'settlement', filters: { status: 'failed' } },
        ({ failed_at }) => failed_at,
        ({ id }) => id,
      ),
      ...matter(
        batches?.filter(
          ({ status, net, payable_on }) =>
            status === 'pending' && isAboveZero(net) && payable_on !== null && payable_on < today,
        ),
        { title: 'Overdue payouts', screen: 'settlement', filters: { status: 'pending' } },
        ({ sealed_at }) => sealed_at,
        ({ id }) => id,
      ),
      ...matter(
        letters?.filter(({ count }) => count > 0),
        { title: 'Queues with dead letters', screen: 'calls', filters: { find: 'dead-letters' } },
        () => null,
        ({ queue, count }) => `${queue}: ${count}`,
      ),
    ]
  }, [exceptions, banks, webhooks, batches, letters, pending.value])
}

/** How much is open at a screen. */
export const openAt = (screen: string): number =>
  matters.value.reduce((sum, row) => sum + (row.screen === screen ? row.count : 0), 0)
