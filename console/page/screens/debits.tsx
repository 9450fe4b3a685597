import type { chargeView } from '../../../shared/views/debit.ts'
import type { DebitSummary } from '../../../shared/views/operator/debit.ts'
import { type CallOptions, exchange, isSandbox, serviceNow, settings, tokenOf } from '../client.ts'
import { debitStatuses } from '../debit-statuses.ts'
import { Action } from '../parts/action.tsx'
import { DebitChart } from '../parts/debit-chart.tsx'
import { chosen, useProviders } from '../parts/filters.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { type Column, NoMatch, Table } from '../parts/table.tsx'
import { Link, Status, Time } from '../parts/values.tsx'
import { place } from '../route.ts'
import { useOperator } from '../use-operator.ts'

const CHARGE = '/api/v1/payment-providers/debit-requests/charge'
const LIMITS = ['100', '500', '1000']

const columns: Column<DebitSummary>[] = [
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Reference', cell: ({ reference }) => <Link id={reference} /> },
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

const isFound = (debit: DebitSummary, text: string): boolean =>
  [debit.reference, debit.partner_reference, debit.phone_number, debit.narration, debit.uuid].some(
    (value) => value?.toLowerCase().includes(text.toLowerCase()),
  )

const Debits = ({ debits }: { debits: readonly DebitSummary[] }) => {
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
        <Table label="Debits" columns={columns} rows={shown} keyOf={({ reference }) => reference}>
          {debits.length > 0 ? (
            <NoMatch row="debit" />
          ) : (
            <Empty title="No debits yet">
              {isSandbox()
                ? 'Choose “New debit”, or charge through the API; the debit appears here at once.'
                : 'A debit appears here within seconds of its charge.'}
            </Empty>
          )}
        </Table>
      </Panel>
    </>
  )
}

/** The newest debits of all providers, live. */
export const DebitsScreen = () => {
  const options = { limit: '100', ...chosen('provider', 'status', 'limit') }
  const debits = useOperator('debit', 'list', options, { entities: ['debit'] })
  const banks = [...new Set(debits.data?.map(({ bank }) => bank))].sort()
  return (
    <Screen
      title="Debits"
      about="The newest debits, updated as they change. Times are UTC."
      actions={isSandbox() && <Charge />}
      filters={[
        { name: 'status', label: 'Status', options: Object.keys(debitStatuses) },
        { name: 'provider', label: 'Provider', options: useProviders() },
        { name: 'bank', label: 'Bank', options: banks },
        { name: 'find', label: 'Find', placeholder: 'Reference, phone or narration' },
        { name: 'limit', label: 'Newest', options: LIMITS, initial: '100' },
      ]}
    >
      <Data of={debits}>{(rows) => <Debits debits={rows} />}</Data>
    </Screen>
  )
}
