import type { DeliveryWithAttempts } from '../../../shared/views/delivery.ts'
import type { DebitResult, HistoryEntry } from '../../../shared/views/operator/debit.ts'
import { isSandbox } from '../client.ts'
import { displayOf } from '../debit-statuses.ts'
import { RefundCall } from '../parts/call.tsx'
import { DebitActions } from '../parts/debit-actions.tsx'
import { DeliveryLink } from '../parts/delivery-drawer.tsx'
import { Sum } from '../parts/money.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { named, View, type ViewColumns } from '../parts/table.tsx'
import { AttemptCount, Code, Link, Status, Time, words } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { useOperator } from '../use-operator.ts'

/** The log of a sandbox has requests to the API, whose ids end so; other ids are of messages and operators. */
const RequestId = ({ id }: { id: string }) =>
  isSandbox() && id.endsWith('=') ? (
    <a class="mono" href={linkTo('requests', '', { find: id })}>
      {id}
    </a>
  ) : (
    <span class="mono">{id}</span>
  )

type EntryProps = { entry: HistoryEntry; deliveries: readonly DeliveryWithAttempts[] }

const Entry = ({ entry: { event, at, by, request_id }, deliveries }: EntryProps) => {
  // Every event but the creation is a status.
  const { title, tone } = displayOf(event.replace(/^\w+\./, '')) ?? { title: 'Created' }
  return (
    <li class={tone === 'warn' ? '' : tone}>
      <div class="row">
        <h3>{title}</h3>
        <small>
          <Time at={at} />
        </small>
      </div>
      <small>
        by <span class="mono">{by}</span>
        {request_id && ', request '}
        {request_id && <RequestId id={request_id} />}
      </small>
      {deliveries.map((delivery) => (
        <p key={delivery.id} class="delivery row">
          <Status value={delivery.status} />
          <DeliveryLink id={delivery.id}>{delivery.event}</DeliveryLink>
          <AttemptCount of={delivery} />
        </p>
      ))}
    </li>
  )
}

type TimelineProps = { debit: DebitResult; log: readonly DeliveryWithAttempts[] | undefined }

const Timeline = ({ debit: { history }, log = [] }: TimelineProps) => (
  <ol class="timeline">
    {history.map((entry) => {
      const deliveries = log.filter(({ event }) => event === entry.event)
      return <Entry key={entry.n} entry={entry} deliveries={deliveries} />
    })}
  </ol>
)

const mayRetry: Record<NonNullable<DebitResult['refund']>['status'], boolean> = {
  pending: false,
  processing: false,
  completed: false,
  failed: true,
}

const refundFacts: ViewColumns<NonNullable<DebitResult['refund']>> = {
  Status: 'status',
  Amount: ({ amount }) => `${amount} GHS`,
  Reason: 'reason',
  'Bank’s reference': 'bank_reference',
  Failure: 'error_message',
  ...named('created_at', 'completed_at'),
}

const Refund = ({ debit: { reference, refund } }: { debit: DebitResult }) => {
  if (!refund) return null
  const about = `Asks the bank again to refund ${refund.amount} GHS.`
  const again = <RefundCall label="Refund again" reference={reference} about={about} />
  return (
    <Panel title="Refund" actions={mayRetry[refund.status] && again}>
      <View of={refund} rows={refundFacts} />
    </Panel>
  )
}

const facts: ViewColumns<DebitResult> = {
  Amount: ({ amount }) => <Sum of={amount} />,
  Fee: ({ fee }) => fee && `${fee} GHS`,
  Status: 'status',
  Failure: ({ error_message, error_code }) => error_message && `${error_message} (${error_code})`,
  Provider: 'provider',
  'Provider’s reference': 'partner_reference',
  Bank: 'bank',
  'Bank’s reference': 'bank_reference',
  Customer: 'phone_number',
  Approval: 'approval_method',
  Narration: 'narration',
  UUID: 'uuid',
  'Settled in': ({ settlement }) =>
    settlement?.batch_id && <Link id={settlement.batch_id} mayWrap />,
  'Adjusted in': ({ settlement }) =>
    settlement?.adjusted_in && <Link id={settlement.adjusted_in} mayWrap />,
}

const Summary = ({ debit }: { debit: DebitResult }) => (
  <Panel title="Debit">
    <View of={debit} rows={facts} />
    {Object.keys(debit.metadata ?? {}).length > 0 && (
      <details>
        <summary>Metadata</summary>
        <Code label="Metadata" text={JSON.stringify(debit.metadata, null, 2)} />
      </details>
    )}
  </Panel>
)

/** The reports and refunds of this debit that an operator must resolve, or has resolved. */
const Exceptions = ({ reference }: { reference: string }) => {
  const watch = { entities: ['exception'], key: reference }
  const { data: own = [] } = useOperator('exception', 'show', { reference }, watch)
  if (own.length === 0) return null
  return (
    <Panel title="Exceptions" actions={<a href={linkTo('exceptions')}>Resolve</a>}>
      <ul class="stack">
        {own.map(({ kind, at, resolved_at, note }) => (
          <li key={at}>
            <Status value={resolved_at ? 'resolved' : 'open'} /> {words(kind)}{' '}
            <small>
              <Time at={at} />
            </small>
            {note && <p class="muted">{note}</p>}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

const About = ({ of: { status, amount, provider, bank } }: { of: DebitResult }) => (
  <>
    <Status value={status} /> · {amount} GHS · {provider} at {bank}
  </>
)

/** The history of one debit with deliveries and refund. */
export const DebitScreen = () => {
  const reference = place.value.id
  const watch = { entities: ['debit', 'delivery', 'receipt', 'refund'], key: reference }
  const debit = useOperator('debit', 'show', { reference }, watch)
  const { data: log } = useOperator('delivery', 'list', { reference }, watch)
  return (
    <Screen
      title={reference}
      back={['debits', 'debits']}
      about={debit.data && <About of={debit.data} />}
      actions={debit.data && <DebitActions debit={debit.data} />}
    >
      <Data of={debit}>
        {(shown) => (
          <div class="split">
            <Panel title="Timeline">
              <Timeline debit={shown} log={log} />
              {log?.length === 0 && (
                <Empty of={['Nothing was sent', 'The provider has no webhook for these events.']} />
              )}
            </Panel>
            <div class="stack">
              <Summary debit={shown} />
              <Refund debit={shown} />
              <Exceptions reference={reference} />
            </div>
          </div>
        )}
      </Data>
    </Screen>
  )
}
