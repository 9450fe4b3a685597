import type { DeliveryResult } from '../../../shared/views/delivery.ts'
import type { WebhookResult } from '../../../shared/views/operator/webhook.ts'
import { serviceNow } from '../client.ts'
import { OperatorAction } from '../parts/action.tsx'
import { ListPanel } from '../parts/list.tsx'
import { Data, Facts, Panel, Screen } from '../parts/screen.tsx'
import type { Column } from '../parts/table.tsx'
import { Status, Time } from '../parts/values.tsx'
import { linkBackTo, place } from '../route.ts'
import { useOperator } from '../use-operator.ts'
import { attemptColumns, debitColumn, eventColumn, pingText } from './webhooks.tsx'

const columns: Column<DeliveryResult>[] = [
  debitColumn,
  eventColumn,
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  ...attemptColumns,
  { title: 'Delivered', cell: ({ delivered_at }) => delivered_at && <Time at={delivered_at} /> },
  {
    title: '',
    cell: ({ id }, reload) => (
      <OperatorAction
        label="Redeliver"
        isSmall
        call={['delivery', 'redeliver', { id: String(id) }]}
        about="Sends the event to the webhook again."
        done="The event is sent again."
        onDone={reload}
      />
    ),
  },
]

const Settings = ({ webhook }: { webhook: WebhookResult }) => (
  <Facts
    rows={[
      ['URL', <span class="mono">{webhook.url}</span>],
      ['Health', <Status value={webhook.health} />],
      ['Failing since', webhook.failing_since && <Time at={webhook.failing_since} />],
      ['Disabled', webhook.disabled_at && <Time at={webhook.disabled_at} />],
      ['Recovered', webhook.recovered_at && <Time at={webhook.recovered_at} />],
      ['Slow', webhook.is_sidelined && 'delivered apart from others'],
      ['Events', webhook.events?.join(', ') ?? 'all events of a debit'],
      ['Attempts', webhook.max_attempts ?? 'by event type'],
      ['Timeout', `${webhook.timeout} s, connection ${webhook.connection_timeout} s`],
      ['Payload', webhook.payload],
      ['Old secret until', webhook.previous_until && <Time at={webhook.previous_until} />],
    ]}
  />
)

const Calls = ({ provider, webhook, reload }: CallsProps) => {
  const health = webhook?.health
  const dayAgo = new Date(serviceNow() - 86_400_000).toISOString()
  return (
    <>
      <OperatorAction
        label="Ping"
        call={['webhook', 'ping', { provider }]}
        about="Sends a signed ping. A ping concerns no debit."
        done={pingText}
        onDone={reload}
      />
      {health !== 'healthy' && (
        <OperatorAction
          label="Enable"
          call={['webhook', 'enable', { provider }]}
          about="Ends the failing state. New events are delivered again."
          done="The webhook is enabled."
          onDone={reload}
        />
      )}
      <OperatorAction
        label="Change"
        call={['webhook', 'set', { provider }]}
        values={{ url: webhook?.url ?? '' }}
        current={webhook}
        about="Changes the given settings only. Another URL replaces the present one."
        done="The webhook is changed."
        onDone={reload}
      />
      <OperatorAction
        label="Rotate the secret"
        call={['webhook', 'rotate-secret', { provider }]}
        done="The webhook has a new secret."
        onDone={reload}
      />
      <OperatorAction
        label="Recover"
        call={['delivery', 'recover', { provider }]}
        about="Sends all undelivered events since a time again, at most 14 days ago."
        values={{ since: dayAgo.slice(0, 19).concat('Z') }}
        done={({ deliveries }) => `${deliveries} events are sent again.`}
        onDone={reload}
      />
    </>
  )
}

type CallsProps = { provider: string; webhook: WebhookResult | undefined; reload: () => void }

/** One webhook with its newest deliveries. */
export const WebhookScreen = () => {
  const provider = place.value.id
  const webhook = useOperator(
    'webhook',
    'show',
    { provider },
    { entities: ['webhook', 'webhook-health'], key: provider },
  )
  return (
    <Screen
      title={`Webhook of ${provider}`}
      about={<a href={linkBackTo('webhooks')}>All webhooks</a>}
      actions={<Calls provider={provider} webhook={webhook.data} reload={webhook.reload} />}
    >
      <Panel title="Settings and health">
        <Data of={webhook}>{(shown) => <Settings webhook={shown} />}</Data>
      </Panel>
      <ListPanel
        label="Deliveries"
        noun="delivery"
        options={{ provider }}
        entities={['delivery', 'receipt', 'feed-page']}
        columns={columns}
        keyOf={({ id }) => id}
        empty={[
          'No deliveries yet',
          `A delivery appears here with the next event of a debit of ${provider}.`,
        ]}
      />
    </Screen>
  )
}
