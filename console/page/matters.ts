import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ApprovalResult } from '../../shared/views/operator/approval.ts'
import { agesText } from './ages.ts'
import {
  LIMIT_MAX,
  type ListPage,
  mayUse,
  operate,
  readPage,
  serviceNow,
  settings,
} from './client.ts'
import { isPayable } from './due-batches.ts'
import { serviceDay } from './parts/field.tsx'
import { place } from './route.ts'
import { type Loaded, useLoaded, usePage } from './use-operator.ts'

const all = { limit: LIMIT_MAX } as const

/** The requests that wait for a second operator, for the objects that they concern. */
const pending = signal<ListPage<ApprovalResult>>({ rows: [], isFirst: true, next: undefined })

export const addPending = (request: ApprovalResult): void => {
  pending.value = { ...pending.value, rows: [request, ...pending.value.rows] }
}

/** Reads the requests at each place. The service records such a read, so a stage is not polled. */
const usePending = (): Loaded<ListPage<ApprovalResult>> => {
  const { screen, id } = place.value
  const entities = settings.value?.is_live ? ['approval'] : []
  const options = { ...all, status: 'pending' }
  const load = (signal: AbortSignal) => readPage('approval', options, signal)
  // The result of an earlier visit lacks the requests since then.
  const watch = { entities, isKept: false }
  const read = useLoaded([screen, id], mayUse('approval') ? load : undefined, watch)
  useEffect(() => {
    if (read.data) pending.value = read.data
  }, [read.data])
  return { ...read, data: mayUse('approval') ? pending.value : undefined }
}

/** Finds a request of the same call about the same object. */
export const pendingCall = (
  noun: string,
  verb: string,
  object: Record<string, string | undefined>,
): ApprovalResult | undefined => {
  const preset = Object.entries(object)
  return pending.value.rows.find(
    (request) =>
      preset.length > 0 &&
      request.noun === noun &&
      request.verb === verb &&
      preset.every(([name, value]) => request.options[name] === value),
  )
}

/** What is open, for the screen Now and the numbers in the navigation. */

export type Matter = {
  title: string
  /** The screen that shows it, with its filters, as in the address. */
  list: string
  /** The open ones among the rows that were read. */
  count: number
  /** `+`: the list has more than were read; `?`: the last read failed. */
  mark: '' | '+' | '?'
  /** When the oldest began. */
  since: string | null
  detail: string
  error: Error | undefined
  reload: () => void
}

export const matters = signal<readonly Matter[]>([])

type Open = { since: string | null; detail?: string }

/** Says which ones are open, or how old they are. */
const matter = <T>(
  title: string,
  list: string,
  { data, error, reload }: Loaded<ListPage<T>>,
  openOf: (one: T) => Open | false,
): Matter[] => {
  if (!data && !error) return []
  const rows = data?.rows ?? []
  const open = rows.map(openOf).filter((one) => one !== false)
  const times = open.flatMap(({ since }) => since ?? []).sort()
  const which = open.flatMap(({ detail }) => detail ?? []).join(', ')
  const parts = data?.next ? [`of the newest ${rows.length}`] : []
  const detail = [...parts, which || agesText(times, serviceNow())].filter(Boolean).join(': ')
  const mark = error ? '?' : data?.next ? '+' : ''
  // Lists begin with the newest.
  const since = data?.next ? null : (times[0] ?? null)
  return [{ title, list, count: open.length, mark, since, detail, error, reload }]
}

/** Reads the providers that a restore holds. */
const readHeld = async (signal: AbortSignal) => {
  const { held, begun_at: since } = await operate('restore', 'show', {}, signal)
  const rows = held.map((detail) => ({ since, detail }))
  return { rows, isFirst: true, next: undefined }
}

/**
 * Reads the lists: in a sandbox after each change, of a stage at the screen Now alone, because the service
 * records reads of customers' data.
 */
const useLists = (requests: Loaded<ListPage<ApprovalResult>>) => {
  const isLive = settings.value?.is_live === true
  const isPaused = !isLive && place.value.screen !== 'now'
  const watch = (...entities: string[]) => ({ entities, isPaused })
  const exceptionWatch = isLive ? watch('exception') : watch()
  return {
    exceptions: usePage('exception', { ...all, status: 'open' }, exceptionWatch),
    requests,
    banks: usePage('bank', {}, watch('bank', 'bank-health')),
    webhooks: usePage('webhook', {}, watch('webhook', 'webhook-health')),
    failed: usePage('settlement', { ...all, status: 'failed' }, watch('batch')),
    waiting: usePage('settlement', { ...all, status: 'pending' }, watch('batch')),
    held: useLoaded(['held'], mayUse('restore') ? readHeld : undefined, watch('restore')),
    letters: usePage('dead-letters', {}, watch()),
  }
}

/** Reports whether payouts of a day are late. */
export const isOverdue = (payableOn: string): boolean => payableOn < serviceDay()

type OpenLists = ReturnType<typeof useLists>

const mattersOf = ({
  exceptions,
  requests,
  banks,
  webhooks,
  failed,
  waiting,
  held,
  letters,
}: OpenLists) => [
  ...matter('Exceptions', 'exceptions?status=open', exceptions, ({ at }) => ({ since: at })),
  ...matter('Approvals', 'approvals?status=pending', requests, ({ requested_at: since }) => {
    return { since }
  }),
  ...matter('Banks that are not up', 'banks', banks, ({ identifier, health: { state, since } }) => {
    return state !== 'up' && { since, detail: `${identifier} ${state}` }
  }),
  ...matter('Webhooks that fail', 'webhooks', webhooks, ({ provider, health, ...webhook }) => {
    const since = webhook.failing_since ?? webhook.disabled_at
    return health !== 'healthy' && { since, detail: `${provider} ${health}` }
  }),
  ...matter('Failed payouts', 'settlement?status=failed', failed, ({ id, failed_at: since }) => {
    return { since, detail: id }
  }),
  ...matter('Overdue payouts', 'settlement?status=pending', waiting, (batch) => {
    const isLate = isPayable(batch) && isOverdue(batch.payable_on)
    return isLate && { since: `${batch.payable_on}T00:00:00Z`, detail: batch.id }
  }),
  ...matter('Providers held by a restore', 'calls?find=restore', held, (open) => open),
  ...matter('Queues with dead letters', 'calls?find=dead-letters', letters, ({ queue, count }) => {
    return count > 0 && { since: null, detail: `${queue}: ${count}` }
  }),
]

export const useMatters = (): void => {
  const lists = useLists(usePending())
  useEffect(
    () => {
      matters.value = mattersOf(lists)
    },
    Object.values(lists).flatMap(({ data, error }) => [data, error]),
  )
}

/** Returns how much is open at a screen, such as `1000+`; empty if nothing is. */
export const openAt = (screen: string): string => {
  const rows = matters.value.filter(({ list }) => list.split('?')[0] === screen)
  const count = rows.reduce((sum, row) => sum + row.count, 0)
  const mark = rows.find((row) => row.mark)?.mark ?? ''
  return count || mark ? `${count}${mark}` : ''
}
