import type { ComponentChildren } from 'preact'
import { settings } from '../client.ts'
import { Failure, Panel, Screen } from '../parts/screen.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/values.tsx'
import { pending } from '../pending.ts'
import { linkTo } from '../place.ts'
import { useOperator } from '../use-operator.ts'

type MatterRow = {
  title: string
  href: string
  count: number
  /** When the oldest began. */
  since?: string | null | undefined
  detail?: ComponentChildren
}

const columns: Column<MatterRow>[] = [
  { title: 'Matter', cell: ({ title, href }) => <a href={href}>{title}</a> },
  {
    title: 'Open',
    cell: ({ count }) => <span class={`status ${count > 0 ? 'bad' : 'good'}`}>{count}</span>,
    isNumber: true,
  },
  { title: 'Since', cell: ({ since }) => <Time at={since} /> },
  { title: 'Which', cell: ({ detail }) => detail, isWide: true },
]

const oldest = (times: readonly (string | null)[]): string | null =>
  times.reduce((first, at) => (first && (!at || first <= at) ? first : at), null)

/** Loads the lists, of which a stage is read once: the service records reads of customers' data. */
const useMatters = () => {
  const live = (...entities: string[]) => ({ entities: settings.value?.is_live ? entities : [] })
  const open = { status: 'open', limit: '1000' } as const
  const exceptions = useOperator('exception', 'list', open, live('exception'))
  const banks = useOperator('bank', 'list', {}, { entities: ['bank', 'bank-health'] })
  const webhooks = useOperator('webhook', 'list', {}, { entities: ['webhook', 'webhook-health'] })
  const batches = useOperator('settlement', 'list', { limit: '1000' }, { entities: ['batch'] })
  const letters = useOperator('dead-letters', 'list', {}, live())
  const down = banks.data?.filter(({ health }) => health.state !== 'up')
  const failing = webhooks.data?.filter(({ health }) => health !== 'healthy')
  const failed = batches.data?.filter(({ status }) => status === 'failed')
  const dead = letters.data?.filter(({ count }) => count > 0)
  const lists = [exceptions, banks, webhooks, batches, letters]
  const row = <T,>(
    list: readonly T[] | undefined,
    matter: Omit<MatterRow, 'count' | 'since'>,
    sinceOf: (one: T) => string | null,
  ): MatterRow[] =>
    list ? [{ ...matter, count: list.length, since: oldest(list.map(sinceOf)) }] : []
  const rows = [
    ...row(
      exceptions.data,
      { title: 'Exceptions', href: linkTo('exceptions', '', { status: 'open' }) },
      ({ at }) => at,
    ),
    ...row(
      pending.value,
      { title: 'Approvals', href: linkTo('approvals', '', { status: 'pending' }) },
      ({ requested_at }) => requested_at,
    ),
    ...row(
      down,
      {
        title: 'Banks that are not up',
        href: linkTo('banks'),
        detail: down?.map(({ identifier, health }) => `${identifier} ${health.state}`).join(', '),
      },
      ({ health }) => health.since,
    ),
    ...row(
      failing,
      {
        title: 'Webhooks that fail',
        href: linkTo('webhooks'),
        detail: failing?.map(({ provider, health }) => `${provider} ${health}`).join(', '),
      },
      ({ failing_since, disabled_at }) => failing_since ?? disabled_at,
    ),
    ...row(
      failed,
      {
        title: 'Failed payouts',
        href: linkTo('settlement', '', { status: 'failed' }),
        detail: failed?.map(({ id }) => id).join(', '),
      },
      ({ failed_at }) => failed_at,
    ),
    ...row(
      dead,
      {
        title: 'Queues with dead letters',
        href: linkTo('calls', '', { find: 'dead-letters' }),
        detail: dead?.map(({ queue, count }) => `${queue}: ${count}`).join(', '),
      },
      () => null,
    ),
  ]
  return { rows, error: lists.find(({ error }) => error)?.error }
}

/** What is open, for the person on call. */
export const NowScreen = () => {
  const { rows, error } = useMatters()
  return (
    <Screen title="Now" about="What is open, with the oldest of each. Each link leads to its list.">
      {error && <Failure error={error} />}
      <Panel>
        <Table label="Open matters" columns={columns} rows={rows} keyOf={({ title }) => title} />
      </Panel>
    </Screen>
  )
}
