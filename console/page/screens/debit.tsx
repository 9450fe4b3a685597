import type { failureMessages } from '../../../shared/domain/banks/sandbox-outcome.ts'
import type { ShownRefundStatus } from '../../../shared/domain/debits/refund.ts'
import type { DeliveryWithAttempts } from '../../../shared/views/delivery.ts'
import type { DebitResult, HistoryEntry } from '../../../shared/views/operator/debit.ts'
import { withSeparators } from '../amounts.ts'
import { exchange, isSandbox, tokenOf } from '../client.ts'
import { debitStatuses, displayOf } from '../debit-statuses.ts'
import { Action } from '../parts/action.tsx'
import { Call } from '../parts/call.tsx'
import { Data, Empty, Panel, Screen, Sum } from '../parts/screen.tsx'
import { named, TablePanel, View, type ViewColumns } from '../parts/table.tsx'
import { AttemptCount, By, Code, Link, Noted, Status, Time } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { useIsHeld, useOperator } from '../use-operator.ts'
import { exceptionColumns } from './exceptions.tsx'
import { DeliveryLink, outcomeOf } from './webhooks.tsx'

/** The type requires the texts of the sandbox bank: the page imports only types from the service. */
const failures: typeof failureMessages = {
  insufficient_funds: 'Insufficient funds',
  invalid_account: 'Account not found or inactive',
  transaction_declined: 'Transaction declined by customer',
  timeout: 'The customer did not respond before the timeout',
  network_error: 'Network unavailable',
  unknown_error: 'Unknown error',
}

const choices = Object.entries(failures).map(([code, text]) => [text, code] as const)

/** The outcomes of an open debit. */
const outcomes = [
  { status: 'completed', verb: 'complete', fields: [] },
  { status: 'failed', verb: 'fail', fields: [{ name: 'reason', label: 'Failure code', choices }] },
] as const

/**
 * The calls that the status of a debit allows. The bank of a sandbox reports with its token; an operator records
 * what a bank reported elsewhere.
 */
const DebitActions = ({ reference, status, bank, uuid }: DebitResult) => {
  const { offers } = debitStatuses[status]
  if (offers === 'reversal') return <Call of={['debit', 'reverse', { reference }]} />
  const token = tokenOf('bank', bank)
  const report = (outcome: string, error_message: string | undefined): Promise<unknown> => {
    const path = `/api/v1/banks/debit-transactions/${uuid}/update`
    const bank_reference = `${bank}-${uuid.slice(-12).toUpperCase()}`
    return exchange('POST', path, { status: outcome, bank_reference, error_message }, token)
  }
  return (offers ? outcomes : []).map(({ status: outcome, verb, fields }) => {
    const texts = { label: `Bank: ${outcome}`, done: `The debit is ${outcome}.` }
    return token ? (
      <Action
        key={verb}
        {...texts}
        about={`${bank} reports the debit as ${outcome}.`}
        fields={fields}
        perform={({ reason }) => report(outcome, reason)}
      />
    ) : (
      <Call
        key={verb}
        {...texts}
        of={['debit', verb, { reference }]}
        texts={Object.fromEntries(fields.map((field) => [field.name, field]))}
      />
    )
  })
}

type EntryProps = HistoryEntry & {
  deliveries: readonly DeliveryWithAttempts[]
  failure: string | null | false
}

const Entry = ({ event, at, by, request_id, deliveries, failure }: EntryProps) => {
  // Every event but the creation is a status.
  const { title, tone } = displayOf(event.replace(/^\w+\./, '')) ?? { title: 'Created' }
  // The log of a sandbox has requests to the API; other ids are of messages and operators.
  const isLogged = isSandbox() && request_id?.endsWith('=')
  return (
    <li class={tone === 'warn' ? '' : tone}>
      <div class="row">
        <h3>{title}</h3>
        <small>
          <Time at={at} />
        </small>
      </div>
      <small>
        <By name={by} />
        {request_id && ', request '}
        {isLogged ? (
          <a class="mono" href={linkTo('requests', '', { find: request_id })}>
            {request_id}
          </a>
        ) : (
          <span class="mono">{request_id}</span>
        )}
      </small>
      {failure && <p class="bad">{failure}</p>}
      {deliveries.map((delivery) => (
        <p key={delivery.id} class="delivery row">
          <Status value={delivery.status} />
          <DeliveryLink {...delivery} />
          <small>{outcomeOf(delivery.attempts.at(-1))}</small>
          <AttemptCount of={delivery} />
        </p>
      ))}
    </li>
  )
}

const refundFacts: ViewColumns<NonNullable<DebitResult['refund']>> = {
  Status: 'status',
  Amount: ({ amount }) => withSeparators(`${amount} GHS`),
  ...named('reason', 'bank_reference', 'error_message as Failure', 'created_at', 'completed_at'),
}

const REFUND_OFFERS: Record<ShownRefundStatus, 'failure' | 'repeat' | null> = {
  ...{ pending: 'failure', processing: 'failure', completed: null, failed: 'repeat' },
}

const Refund = ({ reference, refund }: DebitResult) => {
  if (!refund) return null
  const about = `Asks the bank again to refund ${refund.amount} GHS.`
  const call = ['exception', 'refund', { reference }] as const
  const again = <Call label="Refund again" of={call} about={about} />
  const failure = <Call of={['debit', 'fail-refund', { reference }]} />
  const actions = { failure, repeat: again }
  const offer = REFUND_OFFERS[refund.status]
  return (
    <Panel title="Refund" actions={offer && actions[offer]}>
      <View of={refund} rows={refundFacts} />
    </Panel>
  )
}

const failureOf = ({ error_message, error_code }: DebitResult) =>
  error_message && `${error_message} (${error_code})`

/** Shows the status, and why an open debit waits. */
const StatusOf = ({ status, provider, bank }: DebitResult) => {
  const isHeld = useIsHeld(provider)
  const options = status === 'pending' ? { bank } : undefined
  const isOpen = debitStatuses[status].offers === 'outcome'
  const { data } = useOperator('bank', 'show', options, { entities: ['bank-health'] })
  return (
    <Noted of={<Status value={status} />}>
      {isOpen && isHeld && 'its timeout is held by a restore'}
      {data?.health.state === 'down' && (
        <Time at={data.health.since} label={`${bank} is down since`} />
      )}
    </Noted>
  )
}

const facts: ViewColumns<DebitResult> = {
  Amount: ({ amount }) => <Sum of={amount} />,
  Fee: ({ fee }) => fee && withSeparators(`${fee} GHS`),
  Status: (debit) => <StatusOf {...debit} />,
  Failure: failureOf,
  ...named('provider', 'partner_reference', 'bank', 'bank_reference'),
  Customer: ({ phone_number }) => phone_number ?? 'erased',
  ...named('approval_method as Approval', 'narration', 'uuid'),
  'Settled in': ({ settlement }) =>
    settlement?.batch_id && <Link id={settlement.batch_id} mayWrap />,
  'Adjusted in': ({ settlement }) =>
    settlement?.adjusted_in && <Link id={settlement.adjusted_in} mayWrap />,
}

/** The reports and refunds of this debit that an operator must resolve, or has resolved. */
const Exceptions = ({ reference }: { reference: string }) => {
  const watch = { entities: ['exception'], key: reference }
  const { data: own = [] } = useOperator('exception', 'show', { reference }, watch)
  if (own.length === 0) return null
  return (
    <TablePanel
      title="Exceptions"
      of={own}
      columns={{ ...named('at as Reported'), ...exceptionColumns }}
    />
  )
}

const about = ({ status, amount, provider, bank }: DebitResult) => (
  <>
    <Status value={status} /> · {withSeparators(`${amount} GHS`)} · {provider} at {bank}
  </>
)

export const DebitScreen = () => {
  const reference = place.value.id
  const watch = { entities: ['debit', 'delivery', 'receipt', 'refund'], key: reference }
  const debit = useOperator('debit', 'show', { reference }, watch)
  const { data: log } = useOperator('delivery', 'list', { reference }, watch)
  return (
    <Screen
      back={['debits', 'debits']}
      about={debit.data && about(debit.data)}
      actions={debit.data && <DebitActions {...debit.data} />}
    >
      <Data of={debit}>
        {(shown) => (
          <div class="split">
            <Panel title="Timeline">
              <ol class="timeline">
                {shown.history.map((entry) => {
                  const { isFailure } = debitStatuses[shown.status]
                  const deliveries = log?.filter(({ event }) => event === entry.event) ?? []
                  const failure = isFailure && entry === shown.history.at(-1) && failureOf(shown)
                  return <Entry key={entry.n} {...{ ...entry, deliveries, failure }} />
                })}
              </ol>
              {log?.length === 0 && (
                <Empty of={['Nothing was sent', 'The provider has no webhook for these events.']} />
              )}
            </Panel>
            <div class="stack">
              <Panel title="Debit">
                <View of={shown} rows={facts} />
                {Object.keys(shown.metadata ?? {}).length > 0 && (
                  <details>
                    <summary>Metadata</summary>
                    <Code label="Metadata" text={JSON.stringify(shown.metadata, null, 2)} />
                  </details>
                )}
              </Panel>
              <Refund {...shown} />
              <Exceptions reference={reference} />
            </div>
          </div>
        )}
      </Data>
    </Screen>
  )
}
