import type { chargeView } from '../../../shared/views/debit.ts'
import { type CallOptions, exchange, isSandbox, serviceNow, settings, tokenOf } from '../client.ts'
import { Action } from '../parts/action.tsx'
import { DebitChart } from '../parts/debit-chart.tsx'
import { serviceDay } from '../parts/filters.tsx'
import { listScreen, noMatchOf } from '../parts/list.tsx'
import { type EmptyText, Panel } from '../parts/screen.tsx'
import { named } from '../parts/table.tsx'
import { Noted, Status, words } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'

const CHARGE = '/api/v1/payment-providers/debit-requests/charge'

/** Other providers of a sandbox sign their requests or have an allow-list. */
const CHARGERS = ['demo', 'other']

/** Charges as a demo provider, in a sandbox. */
const Charge = () => {
  const { credentials = [], customers = [] } = settings.value?.seeds ?? {}
  const banks = credentials.filter(({ kind }) => kind === 'bank').map(({ holder }) => holder)
  const perform = ({ provider = '', ...fields }: CallOptions) => {
    const number = Math.floor(Math.random() * 1e9).toString(36)
    const body = { ...fields, currency: 'GHS', partner_reference: `console-${number}` }
    return exchange<ReturnType<typeof chargeView>>(
      'POST',
      CHARGE,
      body,
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
          choices: customers.map(({ phone, name, outcome }) => [phone, `${name}: ${outcome}`]),
        },
        { name: 'bank_identifier', label: 'Bank', choices: banks },
        { name: 'amount', label: 'Amount in GHS', value: '100.00' },
        { name: 'narration', label: 'Narration', value: 'Order from the console' },
        { name: 'provider', label: 'Provider', choices: CHARGERS, value: 'demo' },
      ]}
      perform={perform}
      done={({ reference }) => `${reference} is charged.`}
    />
  )
}

/** A text that is no reference of a provider can be one of a bank, which is read debit by debit. */
const nothingFound = (): EmptyText => {
  const { 'partner-reference': text } = place.value.filters
  if (!text) return noMatchOf('debit')
  const byBank = linkTo('debits', '', { 'bank-reference': text, from: serviceDay(-7) })
  return [
    `No debit has the provider’s reference ${text}`,
    <a key="bank" href={byBank}>
      Search the banks’ references of the last 7 days
    </a>,
  ]
}

/** The debits of all providers by the filters of the service, live. */
export const DebitsScreen = listScreen({
  about: () => 'Newest first, updated as they change. Times are UTC.',
  noun: 'debit',
  entities: ['debit'],
  actions: () => isSandbox() && <Charge />,
  above: ({ rows, isFirst, next }) =>
    rows[0] && (
      <Panel title="Charged, completed and failed">
        <DebitChart
          debits={rows}
          now={isFirst && !place.value.filters.to ? serviceNow() : Date.parse(rows[0].created_at)}
          isPart={!isFirst || next !== undefined}
        />
      </Panel>
    ),
  columns: {
    ...named('created_at', 'reference', 'provider', 'bank', 'phone_number', 'narration'),
    ...named('amount as Amount (GHS)'),
    Status: ({ status, error_code }) => (
      <Noted of={<Status value={status} />}>{error_code && words(error_code)}</Noted>
    ),
  },
  noMatch: nothingFound,
  empty: [
    'No debits yet',
    'A debit appears here within seconds of its charge. In a sandbox, “New debit” charges a customer.',
  ],
})
