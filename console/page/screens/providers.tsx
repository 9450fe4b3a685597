import type { ProviderResult } from '../../../shared/views/operator/provider.ts'
import { Call } from '../parts/call.tsx'
import { listScreen } from '../parts/list.tsx'
import type { ViewColumns } from '../parts/members.tsx'
import { Link, Two } from '../parts/values.tsx'

/** Returns the account that a provider is paid to. */
export const accountText = (provider: ProviderResult | undefined): string | null => {
  const account = provider?.settlement_account
  return account ? `${account.account_name}, ${account.bank} ${account.account_number}` : null
}

const columns: ViewColumns<ProviderResult> = {
  Provider: ({ id, name }) => <Two of={<Link to="provider" id={id} />} below={name} />,
  Status: 'status',
  'Payouts to': { wide: accountText },
  'Held until': 'payouts_held_until',
  'Daily limit': 'daily_limit',
}

/** The payment providers. */
export const ProvidersScreen = listScreen({
  title: 'Providers',
  about: () => 'The payment providers with their settings, credentials and limits.',
  noun: 'provider',
  entities: ['provider'],
  actions: () => (
    <Call
      label="New provider"
      kind="primary"
      of={['provider', 'create']}
      done="The provider is created."
    />
  ),
  columns,
  keyOf: ({ id }) => id,
  empty: ['No providers yet', '“New provider” creates one.'],
})
