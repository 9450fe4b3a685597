import type { chargeView } from '../../../shared/views/debit.ts'
import type { DebitSummary } from '../../../shared/views/operator/debit.ts'
import { type CallOptions, exchange, isSandbox, serviceNow, settings, tokenOf } from '../client.ts'
import { debitStatuses } from '../debit-statuses.ts'
import { Action } from '../parts/action.tsx'
import { DebitChart } from '../parts/debit-chart.tsx'
import { Filter } from '../parts/filters.tsx'
import { Panel, Screen } from '../parts/screen.tsx'
import { Data, Empty } from '../parts/states.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Status, Time } from '../parts/values.tsx'
import { linkTo, place, setFilters } from '../route.ts'
import { useOperator } from '../use-operator.ts'

const CHARGE = '/api/v1/payment-providers/debit-requests/charge'
const LIMITS = ['100', '500', '1000']

const columns: Column<DebitSummary>[] = [
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: 'Reference',
    cell: ({ reference }) => (
      <a class="nowrap" href={linkTo('debit', reference)}>
        {reference}
      </a>
    ),
  },
  { title: 'Provider', cell: ({ provider }) => provider },
  { title: 'Bank', cell: ({ bank }) => bank },
  { title: 'Customer', cell: ({ phone_number }) => phone_number },
  { title: 'Narration', cell: ({ narration }) => narration },
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
const CHARGERS = [
  ['demo', 'demo'],
  ['other', 'other'],
] as const

/** Charges as a demo provider, in a sandbox. */
const Charge = () => {
  const { credentials = [], customers = [] } = settings.value?.seeds ?? {}
  const banks = credentials.filter(({ kind }) => kind === 'bank').map(({ holder }) => holder)
  const perform = (values: CallOptions) => {
    const { provider = '', ...body } = values
    const number = Math.floor(Math.random() * 1e9).toString(36)
    const charge = { ...body, currency: 'GHS', partner_reference: `console-${number}` }
    return exchange<ReturnType<typeof chargeView>>(
      'POST',
      CHARGE,
      charge,
      tokenOf('provider', provider),
    )
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
        { name: 'bank_identifier', label: 'Bank', options: banks.map((bank) => [bank, bank]) },
        { name: 'amount', label: 'Amount in GHS', value: '100.00' },
        { name: 'narration', label: 'Narration', value: 'Order from the console' },
        { name: 'provider', label: 'Provider', options: CHARGERS, value: 'demo' },
      ]}
      perform={perform}
      done={({ reference }) => `${reference} is charged.`}
    />
  )
}

const isFound = (debit: DebitSummary, text: string): boolean =>
  [debit.reference, debit.partner_reference, debit.phone_number, debit.narration, debit.uuid].some(
    (value) => value?.toLowerCase().includes(text.toLowerCase()),
  )

const List = ({ debits }: { debits: readonly DebitSummary[] }) => {
  const { bank = '', find = '' } = place.value.filters
  const shown = debits.filter(
    (debit) => (!bank || debit.bank === bank) && (!find || isFound(debit, find)),
  )
  return (
    <>
      <Panel title="Charged, completed and failed">
        <DebitChart debits={shown} now={serviceNow()} />
      </Panel>
      <Panel>
        {shown.length > 0 ? (
          <Table
            label="Debits"
            columns={columns}
            rows={shown}
            keyOf={({ reference }) => reference}
          />
        ) : debits.length > 0 ? (
          <Empty title="No debit matches these filters">Clear a filter to see more.</Empty>
        ) : (
          <Empty title="No debits yet">
            {isSandbox()
              ? 'Choose “New debit”, or charge through the API; the debit appears here at once.'
              : 'A debit appears here within seconds of its charge.'}
          </Empty>
        )}
      </Panel>
    </>
  )
}

/** The newest debits of all providers, live. */
export const DebitsScreen = () => {
  const { provider, status, limit = '100', find = '' } = place.value.filters
  const options = { ...(provider && { provider }), ...(status && { status }), limit }
  const debits = useOperator('debit', 'list', options, { entities: ['debit'] })
  const providers = useOperator('provider', 'list', {})
  const banks = [...new Set(debits.data?.map(({ bank }) => bank))].sort()
  return (
    <Screen
      title="Debits"
      about="The newest debits, updated as they change. Times are UTC."
      actions={isSandbox() && <Charge />}
    >
      <div class="filters">
        <Filter name="status" label="Status" options={Object.keys(debitStatuses)} />
        <Filter
          name="provider"
          label="Provider"
          options={providers.data?.map(({ id }) => id) ?? (provider ? [provider] : [])}
        />
        <Filter name="bank" label="Bank" options={banks} />
        <label>
          Find
          <input
            type="search"
            value={find}
            placeholder="Reference, phone or narration"
            onInput={(event) => setFilters({ find: event.currentTarget.value || undefined })}
          />
        </label>
        <label>
          Newest
          <select
            value={limit}
            onChange={(event) => setFilters({ limit: event.currentTarget.value })}
          >
            {LIMITS.map((count) => (
              <option key={count}>{count}</option>
            ))}
          </select>
        </label>
      </div>
      <Data of={debits}>{(rows) => <List debits={rows} />}</Data>
    </Screen>
  )
}
