import type { ProviderResult } from '../../../shared/views/operator/provider.ts'
import { newAction } from '../parts/action.tsx'
import { listScreen } from '../parts/list.tsx'
import type { Column } from '../parts/table.tsx'
import { Link, Status, Time } from '../parts/values.tsx'

const columns: Column<ProviderResult>[] = [
  {
    title: 'Provider',
    cell: ({ id, name }) => (
      <>
        <Link to="provider" id={id} />
        <small class="block">{name}</small>
      </>
    ),
  },
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  {
    title: 'Payouts to',
    cell: ({ settlement_account: account }) =>
      account && `${account.account_name}, ${account.bank} ${account.account_number}`,
    isWide: true,
  },
  { title: 'Held until', cell: ({ payouts_held_until }) => <Time at={payouts_held_until} /> },
  { title: 'Daily limit', cell: ({ daily_limit }) => daily_limit, isNumber: true },
]

/** The payment providers. */
export const ProvidersScreen = listScreen({
  title: 'Providers',
  about: () => 'The payment providers with their settings, credentials and limits.',
  noun: 'provider',
  entities: ['provider'],
  actions: newAction('provider'),
  columns,
  keyOf: ({ id }) => id,
  empty: ['No providers yet', '“New provider” creates one.'],
})
