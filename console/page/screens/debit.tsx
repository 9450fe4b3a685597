import type { ComponentChildren } from 'preact'
import type { DeliveryWithAttempts } from '../../../shared/views/delivery.ts'
import type { DebitResult, HistoryEntry } from '../../../shared/views/operator/debit.ts'
import { withSeparators } from '../amounts.ts'
import { isSandbox } from '../client.ts'
import { displayOf } from '../debit-statuses.ts'
import { OperatorAction } from '../parts/action.tsx'
import { DebitActions } from '../parts/debit-actions.tsx'
import { DeliveryLink } from '../parts/delivery-drawer.tsx'
import { DebitPayment } from '../parts/money.tsx'
import { Data, Empty, Facts, Panel, Screen } from '../parts/screen.tsx'
import { Code, Countdown, Link, Status, Time } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { linkBackTo, place } from '../route.ts'
import { useOperator } from '../use-operator.ts'

/** The log has requests to the API, whose ids end so; other ids are of messages and operators. */
const isLogged = (requestId: string): boolean => isSandbox() && requestId.endsWith('=')

const nameOf = (event: string): string => event.replace(/^\w+\./, '')

const Entry = ({ entry, children }: { entry: HistoryEntry; children: ComponentChildren }) => {
  // Every event but the creation is a status.
  const { title, tone } = displayOf(nameOf(entry.event)) ?? { title: 'Created', tone: 'warn' }
  return (
    <li class={tone === 'warn' ? '' : tone}>
      <div class="row">
        <h3>{title}</h3>
        <small>
          <Time at={entry.at} />
        </small>
      </div>
      <small>
        by <span class="mono">{entry.by}</span>
        {entry.request_id && (
          <>
            , request{' '}
            {isLogged(entry.request_id) ? (
              <a class="mono" href={linkTo('requests', '', { find: entry.request_id })}>
                {entry.request_id}
              </a>
            ) : (
              <span class="mono">{entry.request_id}</span>
            )}
          </>
        )}
      </small>
      {children}
    </li>
  )
}

const Delivery = ({ delivery }: { delivery: DeliveryWithAttempts }) => (
  <p class="delivery row">
    <Status value={delivery.status} />
    <DeliveryLink id={delivery.id}>{delivery.event}</DeliveryLink>
    <small>
      {delivery.attempt_count} of {delivery.max_attempts} attempts
      {delivery.next_attempt_at && (
        <>
          , next <Countdown at={delivery.next_attempt_at} />
        </>
      )}
    </small>
  </p>
)

const Timeline = ({ debit, deliveries }: TimelineProps) => (
  <ol class="timeline">
    {debit.history.map((entry) => (
      <Entry key={entry.n} entry={entry}>
        {deliveries
          .filter(({ event }) => event === entry.event)
          .map((delivery) => (
            <Delivery key={delivery.id} delivery={delivery} />
          ))}
      </Entry>
    ))}
  </ol>
)

type TimelineProps = { debit: DebitResult; deliveries: readonly DeliveryWithAttempts[] }

const mayRetry: Record<NonNullable<DebitResult['refund']>['status'], boolean> = {
  pending: false,
  processing: false,
  completed: false,
  failed: true,
}

const Refund = ({ debit, reload }: { debit: DebitResult; reload: () => void }) => {
  const { reference, refund } = debit
  if (!refund) return null
  return (
    <Panel
      title="Refund"
      actions={
        mayRetry[refund.status] && (
          <OperatorAction
            label="Refund again"
            call={['exception', 'refund', { reference }]}
            only={['reason']}
            about={`Asks the bank again to refund ${refund.amount} GHS.`}
            confirmation={() => <DebitPayment reference={reference} isRefund />}
            movesMoney
            done="The refund is requested again."
            onDone={reload}
          />
        )
      }
    >
      <Facts
        rows={[
          ['Status', <Status value={refund.status} />],
          ['Amount', `${refund.amount} GHS`],
          ['Reason', refund.reason],
          ['Bank’s reference', refund.bank_reference],
          ['Failure', refund.error_message],
          ['Created', <Time at={refund.created_at} />],
          ['Completed', refund.completed_at && <Time at={refund.completed_at} />],
        ]}
      />
    </Panel>
  )
}

const Summary = ({ debit }: { debit: DebitResult }) => {
  const { batch_id, adjusted_in } = debit.settlement ?? {}
  return (
    <Panel title="Debit">
      <Facts
        rows={[
          ['Amount', <strong>{withSeparators(`${debit.amount} GHS`)}</strong>],
          ['Fee', debit.fee && `${debit.fee} GHS`],
          ['Status', <Status value={debit.status} />],
          ['Failure', debit.error_message && `${debit.error_message} (${debit.error_code})`],
          ['Provider', debit.provider],
          ['Provider’s reference', debit.partner_reference],
          ['Bank', debit.bank],
          ['Bank’s reference', debit.bank_reference],
          ['Customer', debit.phone_number],
          ['Approval', debit.approval_method],
          ['Narration', debit.narration],
          ['UUID', <span class="mono">{debit.uuid}</span>],
          ['Settled in', batch_id && <Link id={batch_id} mayWrap />],
          ['Adjusted in', adjusted_in && <Link id={adjusted_in} mayWrap />],
        ]}
      />
      {Object.keys(debit.metadata ?? {}).length > 0 && (
        <details>
          <summary>Metadata</summary>
          <Code label="Metadata" text={JSON.stringify(debit.metadata, null, 2)} />
        </details>
      )}
    </Panel>
  )
}

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
            <Status value={resolved_at ? 'resolved' : 'open'} /> {kind.replaceAll('_', ' ')}{' '}
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

/** The history of one debit with deliveries and refund. */
export const DebitScreen = () => {
  const reference = place.value.id
  const watch = { entities: ['debit', 'delivery', 'receipt', 'refund'], key: reference }
  const debit = useOperator('debit', 'show', { reference }, watch)
  const log = useOperator('delivery', 'list', { reference }, watch)
  const reload = (): void => {
    debit.reload()
    log.reload()
  }
  return (
    <Screen
      title={reference}
      about={
        <>
          <a href={linkBackTo('debits')}>All debits</a>
          {debit.data && (
            <>
              {' · '}
              <Status value={debit.data.status} /> · {debit.data.amount} GHS · {debit.data.provider}{' '}
              at {debit.data.bank}
            </>
          )}
        </>
      }
      actions={debit.data && <DebitActions debit={debit.data} reload={reload} />}
    >
      <Data of={debit}>
        {(shown) => (
          <div class="split">
            <Panel title="Timeline">
              <Timeline debit={shown} deliveries={log.data ?? []} />
              {log.data?.length === 0 && (
                <Empty title="Nothing was sent">
                  The provider has no webhook for these events.
                </Empty>
              )}
            </Panel>
            <div class="stack">
              <Summary debit={shown} />
              <Refund debit={shown} reload={reload} />
              <Exceptions reference={reference} />
            </div>
          </div>
        )}
      </Data>
    </Screen>
  )
}
