import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ApprovalResult } from '../../shared/views/operator/approval.ts'
import { agesText } from './ages.ts'
import { mayUse, operate, serviceNow, settings } from './client.ts'
import { isPayable } from './due-batches.ts'
import { serviceDay } from './parts/field.tsx'
import { place } from './route.ts'
import { type Loaded, useLoaded, useOperator } from './use-operator.ts'

/** The requests that wait for a second operator, for the objects that they concern. */
const pending = signal<readonly ApprovalResult[]>([])

export const addPending = (request: ApprovalResult): void => {
  pending.value = [request, ...pending.value]
}

/** Reads the requests at each place. The service records such a read, so a stage is not polled. */
const usePending = (): void => {
  const { screen, id } = place.value
  const entities = settings.value?.is_live ? ['approval'] : []
  const options = { status: 'pending', limit: '1000' }
  const load = (signal: AbortSignal) => operate('approval', 'list', options, signal)
  // The result of an earlier visit lacks the requests since then.
  const watch = { entities, isKept: false }
  const { data } = useLoaded([screen, id], mayUse('approval') ? load : undefined, watch)
  useEffect(() => {
    if (data) pending.value = data
  }, [data])
}

/** Finds a request of the same call about the same object. */
export const pendingCall = (
  noun: string,
  verb: string,
  object: Record<string, string | undefined>,
): ApprovalResult | undefined => {
  const preset = Object.entries(object)
  return pending.value.find(
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
  count: number
  /** When the oldest began. */
  since: string | null
  detail: string
}

export const matters = signal<readonly Matter[]>([])

type Open = { since: string | null; detail?: string }

/** Says which ones are open, or how old they are. */
const matter = <T>(
  title: string,
  list: string,
  { data }: Pick<Loaded<readonly T[]>, 'data'>,
  openOf: (one: T) => Open | false,
): Matter[] => {
  if (!data) return []
  const open = data.map(openOf).filter((one) => one !== false)
  const times = open.flatMap(({ since }) => since ?? []).sort()
  const which = open.flatMap(({ detail }) => detail ?? []).join(', ')
  const detail = which || agesText(times, serviceNow())
  return [{ title, list, count: open.length, since: times[0] ?? null, detail }]
}

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
    failed: useOperator('settlement', 'list', { ...all, status: 'failed' }, watch('batch')),
    waiting: useOperator('settlement', 'list', { ...all, status: 'pending' }, watch('batch')),
    letters: useOperator('dead-letters', 'list', {}, watch()),
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
    return isLate && { since: batch.sealed_at, detail: batch.id }
  }),
  ...matter('Queues with dead letters', 'calls?find=dead-letters', letters, ({ queue, count }) => {
    return count > 0 && { since: null, detail: `${queue}: ${count}` }
  }),
]

export const useMatters = (): void => {
  usePending()
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
  matters.value.reduce((sum, row) => sum + (row.list.split('?')[0] === screen ? row.count : 0), 0)
