import type { chargeView } from '../../../shared/views/debit.ts'
import type { DebitSummary } from '../../../shared/views/operator/debit.ts'
import {
  type CallOptions,
  exchange,
  isSandbox,
  type ListedDebits,
  listDebits,
  serviceNow,
  settings,
  tokenOf,
} from '../client.ts'
import { debitStatuses } from '../debit-statuses.ts'
import { Action } from '../parts/action.tsx'
import { DebitChart } from '../parts/debit-chart.tsx'
import {
  chosen,
  chosenLimit,
  limitFilter,
  serviceDay,
  useBanks,
  useProviders,
} from '../parts/filters.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { type Column, NoMatch, Table } from '../parts/table.tsx'
import { Link, Status, Time } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { useCall } from '../use-operator.ts'

const CHARGE = '/api/v1/payment-providers/debit-requests/charge'

const columns: Column<DebitSummary>[] = [
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Reference', cell: ({ reference }) => <Link id={reference} /> },
  { title: 'Provider', cell: ({ provider }) => provider },
  { title: 'Bank', cell: ({ bank }) => bank },
  { title: 'Customer', cell: ({ phone_number }) => phone_number },
  { title: 'Narration', cell: ({ narration }) => narration, isWide: true },
  { title: 'Amount (GHS)', cell: ({ amount }) => amount, isNumber: true },
  {
    title: 'Status',
    cell: ({ status, error_code }) => (
      <>
        <Status value={status} />
        {error_code && <small class="block">{error_code.replaceAll('_', ' ')}</small>}
      </>
    ),
  },
]

/** Other providers of a sandbox sign their requests or have an allow-list. */
const CHARGERS = ['demo', 'other']

/** Charges as a demo provider, in a sandbox. */
const Charge = () => {
  const { credentials = [], customers = [] } = settings.value?.seeds ?? {}
  const banks = credentials.filter(({ kind }) => kind === 'bank').map(({ holder }) => holder)
  const perform = (values: CallOptions) => {
    const { provider = '', ...body } = values
    const number = Math.floor(Math.random() * 1e9).toString(36)
    const charge = { ...body, currency: 'GHS', partner_reference: `console-${number}` }
    const token = tokenOf('provider', provider)
    return exchange<ReturnType<typeof chargeView>>('POST', CHARGE, charge, token)
  }
  return (
    <Action
      label="New debit"
      kind="primary"
      about="Charges a customer of this sandbox. The customer selects the outcome."
      fields={[
        {
          name: 'phone_number',
          label: 'Customer',
          options: customers.map(({ phone, name, outcome }) => [phone, `${name}: ${outcome}`]),
        },
        { name: 'bank_identifier', label: 'Bank', options: banks },
        { name: 'amount', label: 'Amount in GHS', value: '100.00' },
        { name: 'narration', label: 'Narration', value: 'Order from the console' },
        { name: 'provider', label: 'Provider', options: CHARGERS, value: 'demo' },
      ]}
      perform={perform}
      done={({ reference }) => `${reference} is charged.`}
    />
  )
}

/** The searches, which a button removes; other filters have a control. */
const searches = {
  phone: 'Phone',
  amount: 'Amount',
  uuid: 'UUID',
  'partner-reference': 'Provider’s reference',
  'bank-reference': 'Bank’s reference',
} as const

const names = Object.keys(searches) as (keyof typeof searches)[]

const Searches = () => {
  const set = Object.entries(chosen(...names)) as [keyof typeof searches, string][]
  if (set.length === 0) return null
  return (
    <div class="row">
      {set.map(([name, value]) => (
        <button
          key={name}
          type="button"
          class="small text"
          title="Remove this filter"
          onClick={() => setFilters({ [name]: undefined })}
        >
          {searches[name]}: <strong>{value}</strong> ✕
        </button>
      ))}
    </div>
  )
}

/** A text that is no reference of a provider can be one of a bank, which is read debit by debit. */
const NothingFound = () => {
  const { 'partner-reference': text } = place.value.filters
  if (!text) return <NoMatch row="debit" />
  const from = serviceDay(-7)
  return (
    <Empty title={`No debit has the provider’s reference ${text}`}>
      <a href={linkTo('debits', '', { 'bank-reference': text, from })}>
        Search the banks’ references of the last 7 days
      </a>
    </Empty>
  )
}

const Debits = ({ page: { debits, isFirst, next } }: { page: ListedDebits }) => {
  const { filters } = place.value
  const { limit: _, ...others } = filters
  const isFiltered = Object.keys(others).length > 0
  return (
    <>
      {debits.length > 0 && (
        <Panel title="Charged, completed and failed">
          <DebitChart
            debits={debits}
            now={isFirst && !filters.to ? serviceNow() : Date.parse(debits[0]?.created_at ?? '')}
            isPart={!isFirst || next !== undefined}
          />
        </Panel>
      )}
      <Panel>
        <Table label="Debits" columns={columns} rows={debits} keyOf={({ reference }) => reference}>
          {isFiltered ? (
            <NothingFound />
          ) : (
            <Empty title="No debits yet">
              {isSandbox()
                ? 'Choose “New debit”, or charge through the API; the debit appears here at once.'
                : 'A debit appears here within seconds of its charge.'}
            </Empty>
          )}
        </Table>
        <nav class="row pages" aria-label="Pages">
          {!isFirst && <a href={linkTo('debits', '', { ...filters, cursor: undefined })}>Newest</a>}
          {next && <a href={linkTo('debits', '', { ...filters, cursor: next })}>Older</a>}
        </nav>
      </Panel>
    </>
  )
}

/** The debits of all providers by the filters of the service, live. */
export const DebitsScreen = () => {
  const filters = chosen('provider', 'status', 'bank', 'from', 'to', 'cursor', ...names)
  const options = { ...filters, ...chosenLimit() }
  const page = useCall(['debit', 'list', options, 'page'], () => listDebits(options), {
    entities: ['debit'],
  })
  return (
    <Screen
      title="Debits"
      about="Newest first, updated as they change. Times are UTC."
      actions={isSandbox() && <Charge />}
      filters={[
        { name: 'status', label: 'Status', options: Object.keys(debitStatuses) },
        { name: 'provider', label: 'Provider', options: useProviders() },
        { name: 'bank', label: 'Bank', options: useBanks()?.map(([bank]) => bank) },
        { name: 'from', label: 'From', type: 'date' },
        { name: 'to', label: 'To', type: 'date' },
        limitFilter('Page of'),
      ]}
    >
      <Searches />
      <Data of={page}>{(shown) => <Debits page={shown} />}</Data>
    </Screen>
  )
}
