import type { ChargeRequest } from '../../../shared/domain/debits/charge.ts'
import type { chargeView } from '../../../shared/views/debit.ts'
import type { DebitSummary } from '../../../shared/views/operator/debit.ts'
import type { Field } from '../catalogue-fields.ts'
import {
  type CallOptions,
  exchange,
  isSandbox,
  type ListPage,
  serviceNow,
  settings,
  tokenOf,
} from '../client.ts'
import { countDebits, lastEventOf } from '../debit-counts.ts'
import { Action } from '../parts/action.tsx'
import { serviceDay } from '../parts/field.tsx'
import { listScreen, noMatchOf } from '../parts/list.tsx'
import { type EmptyText, Panel } from '../parts/screen.tsx'
import { named } from '../parts/table.tsx'
import { dayText, Noted, Status, words } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { partnerLink, searchLink } from '../search.ts'
import { useOperator } from '../use-operator.ts'

const DAYS_SHOWN_FROM = 86_400 * 2
const BARS_PER_LABEL = 6

/** Returns the label of each sixth bar; a day is named once. */
const labelsOf = (times: readonly number[]): string[] => {
  const hasDays = (times.at(-1) ?? 0) - (times[0] ?? 0) > DAYS_SHOWN_FROM
  const labels = times
    .filter((_, index) => index % BARS_PER_LABEL === 0)
    .map((at) => new Date(at * 1000).toISOString())
    .map((text) => (hasDays ? dayText(text).slice(0, -5) : text.slice(11, 16)))
  return labels.map((label, index) => (label === labels[index - 1] ? '' : label))
}

/** Draws debits as bars: charged ones, and in front of them completed and failed ones. */
const Chart = ({ rows, isFirst, next }: ListPage<DebitSummary>) => {
  const isCurrent = isFirst && !place.value.filters.to
  const now = isCurrent ? serviceNow() : lastEventOf(rows)
  const { times, charged, completed, failed } = countDebits(rows, now)
  const outcomes = failed.map((count, index) => count + (completed[index] ?? 0))
  const max = Math.max(4, ...charged, ...outcomes)
  const bars = (name: string, width: number, counts: readonly number[]) => (
    <g class={name}>
      {counts.map((count, index) => {
        const height = (count / max) * 100
        const x = index * 10 + (10 - width) / 2
        return (
          count > 0 && <rect key={index} x={x} y={100 - height} width={width} height={height} />
        )
      })}
    </g>
  )
  const [all, good, bad] = [charged, completed, failed].map((list) => list.reduce((a, b) => a + b))
  return (
    <Panel title="Charged, completed and failed">
      <figure class="chart">
        <div role="img" aria-label={`${all} debits charged, ${good} completed, ${bad} failed`}>
          <small>{max}</small>
          <svg
            viewBox={`0 0 ${times.length * 10} 100`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            {bars('all', 8, charged)}
            {bars('bad', 4, outcomes)}
            {bars('good', 4, completed)}
          </svg>
          <div class="times">
            {labelsOf(times).map((label, index) => (
              <small key={index}>{label}</small>
            ))}
          </div>
        </div>
        <figcaption class="legend">
          {!(isFirst && !next) && <span class="muted">Of these {rows.length}:</span>}
          <span class="status">{all} charged</span>
          <span class="status good">{good} completed</span>
          <span class="status bad">{bad} failed</span>
        </figcaption>
      </figure>
    </Panel>
  )
}

const CHARGE = '/api/v1/payment-providers/debit-requests/charge'

/** Other providers of a sandbox sign their requests or have an allow-list. */
const CHARGERS = ['demo', 'other']

type TypedField = Exclude<keyof ChargeRequest, 'currency' | 'partner_reference' | 'metadata'>

/** Charges as a demo provider, in a sandbox. */
const Charge = () => {
  const { credentials = [], customers = [] } = settings.value?.seeds ?? {}
  const banks = credentials.filter(({ kind }) => kind === 'bank').map(({ holder }) => holder)
  const perform = ({ provider = '', ...fields }: CallOptions) => {
    const number = Math.floor(Math.random() * 1e9).toString(36)
    const body = { ...fields, currency: 'GHS', partner_reference: `console-${number}` }
    const token = tokenOf('provider', provider)
    return exchange<ReturnType<typeof chargeView>>('POST', CHARGE, body, token)
  }
  const fields: Record<TypedField | 'provider', Omit<Field, 'name'>> = {
    phone_number: {
      label: 'Customer',
      value: customers[0]?.phone,
      choices: customers.map(({ phone, name, outcome }) => [phone, `${name}: ${outcome}`]),
    },
    bank_identifier: { label: 'Bank', choices: banks, value: banks[0] },
    amount: { label: 'Amount in GHS', value: '100.00' },
    narration: { label: 'Narration', value: 'Order from the console' },
    provider: { label: 'Provider', choices: CHARGERS, value: 'demo' },
  }
  return (
    <Action
      label="New debit"
      kind="primary"
      about="Charges a customer of this sandbox. The customer selects the outcome."
      fields={Object.entries(fields).map(([name, field]) => ({ name, ...field }))}
      perform={perform}
      done={({ reference }) => `${reference} is charged.`}
    />
  )
}

/** A text that is no reference of a provider can be one of a bank, which is read debit by debit. */
const nothingFound = (): EmptyText => {
  const { 'partner-reference': partner, uuid } = place.value.filters
  const text = partner ?? uuid
  if (!text) return noMatchOf('debit')
  const byBank = linkTo('debits', '', { 'bank-reference': text, from: serviceDay(-7) })
  const link = <a href={byBank}>Search the banks’ references of the last 7 days</a>
  return [`No debit has the ${partner ? 'provider’s reference' : 'uuid'} ${text}`, link]
}

/** Links to the search by the form of a provider's reference, such as a phone number or a bank. */
const OtherMeaning = () => {
  const { 'partner-reference': text } = place.value.filters
  const { data: providers = [] } = useOperator('provider', 'list', text ? {} : undefined)
  const { data: banks = [] } = useOperator('bank', 'list', text ? {} : undefined)
  const link = text && searchLink(text, { providers, banks })
  if (!link || link === partnerLink(text)) return null
  return (
    <>
      {' '}
      · <a href={link}>Search for “{text}” by its form</a>
    </>
  )
}

export const DebitsScreen = listScreen({
  about: () => (
    <>
      Newest first, updated as they change. Times are UTC.
      <OtherMeaning />
    </>
  ),
  noun: 'debit',
  entities: ['debit'],
  actions: () => isSandbox() && <Charge />,
  above: (page) => page.rows.length > 0 && <Chart {...page} />,
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
