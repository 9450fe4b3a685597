import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { agesText } from './ages.ts'
import { isAboveZero } from './amounts.ts'
import { mayUse, serviceNow, settings } from './client.ts'
import { serviceDay } from './parts/filters.tsx'
import { pending } from './pending.ts'
import { place } from './route.ts'
import { type Loaded, useOperator } from './use-operator.ts'

/** What is open, for the screen Now and the numbers in the navigation. */

export type Matter = {
  title: string
  /** The screen that shows it, with its filters. */
  screen: string
  filters: Record<string, string>
  count: number
  /** When the oldest began. */
  since: string | null
  detail: string
}

export const matters = signal<readonly Matter[]>([])

type Open = { since: string | null; detail?: string }

const matter = <T>(
  { data }: Pick<Loaded<readonly T[]>, 'data'>,
  [title, screen, filters = {}]: readonly [string, string, Record<string, string>?],
  openOf: (one: T) => Open | false,
  detailOf = (open: readonly Open[]): string =>
    open.flatMap(({ detail }) => detail ?? []).join(', '),
): Matter[] => {
  if (!data) return []
  const open = data.map(openOf).filter((one) => one !== false)
  const [since = null] = open.flatMap((one) => one.since ?? []).sort()
  return [{ title, screen, filters, count: open.length, since, detail: detailOf(open) }]
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
  const isPaused = !isLive && place.value.screen !== 'now'
  const watch = (...entities: string[]) => ({ entities, isPaused })
  const exceptionWatch = isLive ? watch('exception') : watch()
  return {
    exceptions: useOperator('exception', 'list', { ...all, status: 'open' }, exceptionWatch),
    requests: { data: mayUse('approval') ? pending.value : undefined },
    banks: useOperator('bank', 'list', {}, watch('bank', 'bank-health')),
    webhooks: useOperator('webhook', 'list', {}, watch('webhook', 'webhook-health')),
    batches: useOperator('settlement', 'list', all, watch('batch')),
    letters: useOperator('dead-letters', 'list', {}, watch()),
  }
}

type OpenLists = ReturnType<typeof useLists>

const mattersOf = ({ exceptions, requests, banks, webhooks, batches, letters }: OpenLists) => [
  ...matter(
    exceptions,
    ['Exceptions', 'exceptions', { status: 'open' }],
    ({ at }) => ({ since: at }),
    agesOf,
  ),
  ...matter(requests, ['Approvals', 'approvals', { status: 'pending' }], ({ requested_at }) => ({
    since: requested_at,
  })),
  ...matter(
    banks,
    ['Banks that are not up', 'banks'],
    ({ identifier, health: { state, since } }) =>
      state !== 'up' && { since, detail: `${identifier} ${state}` },
  ),
  ...matter(
    webhooks,
    ['Webhooks that fail', 'webhooks'],
    ({ provider, health, failing_since, disabled_at }) =>
      health !== 'healthy' && {
        since: failing_since ?? disabled_at,
        detail: `${provider} ${health}`,
      },
  ),
  ...matter(
    batches,
    ['Failed payouts', 'settlement', { status: 'failed' }],
    ({ id, status, failed_at }) => status === 'failed' && { since: failed_at, detail: id },
  ),
  ...matter(
    batches,
    ['Overdue payouts', 'settlement', { status: 'pending' }],
    ({ id, status, net, payable_on, sealed_at }) =>
      status === 'pending' &&
      isAboveZero(net) &&
      payable_on !== null &&
      payable_on < serviceDay() && { since: sealed_at, detail: id },
  ),
  ...matter(
    letters,
    ['Queues with dead letters', 'calls', { find: 'dead-letters' }],
    ({ queue, count }) => count > 0 && { since: null, detail: `${queue}: ${count}` },
  ),
]

export const useMatters = (): void => {
  const lists = useLists()
  useEffect(
    () => {
      matters.value = mattersOf(lists)
    },
    Object.values(lists).map(({ data }) => data),
  )
}

/** How much is open at a screen. */
export const openAt = (screen: string): number =>
  matters.value.reduce((sum, row) => sum + (row.screen === screen ? row.count : 0), 0)
