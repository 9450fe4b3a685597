import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { NounName } from '../../shared/operator/results.ts'
import { agesText } from './ages.ts'
import { isAboveZero } from './amounts.ts'
import { mayUse, operate, serviceNow, settings } from './client.ts'
import { serviceDay } from './parts/filters.tsx'
import { pending } from './pending.ts'
import type { LoadCall } from './reader.ts'
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
  detail: string
}

export const matters = signal<readonly Matter[]>([])

type Open = { since: string | null; detail?: string }

const matter = <T>(
  list: readonly T[] | undefined,
  row: Pick<Matter, 'title' | 'screen' | 'filters'>,
  openOf: (one: T) => Open | false,
  detailOf = (open: readonly Open[]): string =>
    open.flatMap(({ detail }) => detail ?? []).join(', '),
): Matter[] => {
  if (!list) return []
  const open = list.map(openOf).filter((one) => one !== false)
  const [since = null] = open.flatMap((one) => one.since ?? []).sort()
  return [{ ...row, count: open.length, since, detail: detailOf(open) }]
}

const agesOf = (open: readonly Open[]): string =>
  agesText(
    open.flatMap(({ since }) => since ?? []),
    serviceNow(),
  )

const all = { limit: '1000' } as const

/**
 * Reads the lists: in a sandbox after each change, of a stage at the screen Now alone, because the service
 * records reads of customers' data.
 */
const useLists = () => {
  const isLive = settings.value?.is_live === true
  const isRead = isLive || place.value.screen === 'now'
  const read = <T>(noun: NounName, entities: readonly string[], load: LoadCall<T>) =>
    useCall(['matters', noun], isRead && mayUse(noun) ? load : undefined, { entities }).data
  return {
    exceptions: read('exception', isLive ? ['exception'] : [], (signal) =>
      operate('exception', 'list', { ...all, status: 'open' }, signal),
    ),
    requests: mayUse('approval') ? pending.value : undefined,
    banks: read('bank', ['bank', 'bank-health'], (signal) => operate('bank', 'list', {}, signal)),
    webhooks: read('webhook', ['webhook', 'webhook-health'], (signal) =>
      operate('webhook', 'list', {}, signal),
    ),
    batches: read('settlement', ['batch'], (signal) => operate('settlement', 'list', all, signal)),
    letters: read('dead-letters', [], (signal) => operate('dead-letters', 'list', {}, signal)),
  }
}

type OpenLists = ReturnType<typeof useLists>

const mattersOf = ({ exceptions, requests, banks, webhooks, batches, letters }: OpenLists) => [
  ...matter(
    exceptions,
    { title: 'Exceptions', screen: 'exceptions', filters: { status: 'open' } },
    ({ at }) => ({ since: at }),
    agesOf,
  ),
  ...matter(
    requests,
    { title: 'Approvals', screen: 'approvals', filters: { status: 'pending' } },
    ({ requested_at }) => ({ since: requested_at }),
  ),
  ...matter(
    banks,
    { title: 'Banks that are not up', screen: 'banks' },
    ({ identifier, health: { state, since } }) =>
      state !== 'up' && { since, detail: `${identifier} ${state}` },
  ),
  ...matter(
    webhooks,
    { title: 'Webhooks that fail', screen: 'webhooks' },
    ({ provider, health, failing_since, disabled_at }) =>
      health !== 'healthy' && {
        since: failing_since ?? disabled_at,
        detail: `${provider} ${health}`,
      },
  ),
  ...matter(
    batches,
    { title: 'Failed payouts', screen: 'settlement', filters: { status: 'failed' } },
    ({ id, status, failed_at }) => status === 'failed' && { since: failed_at, detail: id },
  ),
  ...matter(
    batches,
    { title: 'Overdue payouts', screen: 'settlement', filters: { status: 'pending' } },
    ({ id, status, net, payable_on, sealed_at }) =>
      status === 'pending' &&
      isAboveZero(net) &&
      payable_on !== null &&
      payable_on < serviceDay() && { since: sealed_at, detail: id },
  ),
  ...matter(
    letters,
    { title: 'Queues with dead letters', screen: 'calls', filters: { find: 'dead-letters' } },
    ({ queue, count }) => count > 0 && { since: null, detail: `${queue}: ${count}` },
  ),
]

export const useMatters = (): void => {
  const lists = useLists()
  useEffect(() => {
    matters.value = mattersOf(lists)
  }, Object.values(lists))
}

/** How much is open at a screen. */
export const openAt = (screen: string): number =>
  matters.value.reduce((sum, row) => sum + (row.screen === screen ? row.count : 0), 0)
