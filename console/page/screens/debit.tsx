import type { DeliveryWithAttempts } from '../../../shared/views/delivery.ts'
import type { DebitResult, HistoryEntry } from '../../../shared/views/operator/debit.ts'
import { isSandbox } from '../client.ts'
import { displayOf } from '../debit-statuses.ts'
import { RefundCall } from '../parts/call.tsx'
import { DebitActions } from '../parts/debit-actions.tsx'
import { DeliveryLink } from '../parts/delivery-drawer.tsx'
import { Data, Empty, Panel, Screen, Sum } from '../parts/screen.tsx'
import { named, TablePanel, View, type ViewColumns } from '../parts/table.tsx'
import { AttemptCount, By, Code, Link, Status, Time } from '../parts/values.tsx'
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

type EntryProps = HistoryEntry & { deliveries: readonly DeliveryWithAttempts[] }

const Entry = ({ event, at, by, request_id, deliveries }: EntryProps) => {
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
        <By name={by} />
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

const mayRetry: Record<NonNullable<DebitResult['refund']>['status'], boolean> = {
  pending: false,
  processing: false,
  completed: false,
  failed: true,
}

const refundFacts: ViewColumns<NonNullable<DebitResult['refund']>> = {
  Status: 'status',
  Amount: ({ amount }) => `${amount} GHS`,
  ...named('reason', 'bank_reference', 'error_message as Failure', 'created_at', 'completed_at'),
}

const Refund = ({ reference, refund }: DebitResult) => {
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
  ...named('provider', 'partner_reference', 'bank', 'bank_reference', 'phone_number'),
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
      actions={<a href={linkTo('exceptions')}>Resolve</a>}
      of={own}
      columns={{
        Status: ({ resolved_at }) => <Status value={resolved_at ? 'resolved' : 'open'} />,
        ...named('kind', 'at as Reported', 'note'),
      }}
    />
  )
}

const about = ({ status, amount, provider, bank }: DebitResult) => (
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
                  const deliveries = log?.filter(({ event }) => event === entry.event) ?? []
                  return <Entry key={entry.n} {...entry} deliveries={deliveries} />
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
