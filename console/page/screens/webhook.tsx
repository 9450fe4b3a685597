import type { DeliveryResult } from '../../../shared/views/delivery.ts'
import type { WebhookResult } from '../../../shared/views/operator/webhook.ts'
import { serviceNow } from '../client.ts'
import { Call, Redeliver } from '../parts/call.tsx'
import { ListPanel } from '../parts/list.tsx'
import { named, type ViewColumns } from '../parts/members.tsx'
import { Data, Panel, Screen } from '../parts/screen.tsx'
import { View } from '../parts/table.tsx'
import { place } from '../route.ts'
import { useOperator } from '../use-operator.ts'
import { attemptColumns, eventColumns, PingCall } from './webhooks.tsx'

const columns: ViewColumns<DeliveryResult> = {
  ...eventColumns,
  Status: 'status',
  ...attemptColumns,
  Delivered: 'delivered_at',
  '': ({ id }) => <Redeliver id={id} />,
}

const settings: ViewColumns<WebhookResult> = {
  URL: 'url',
  ...named('health', 'failing_since', 'disabled_at', 'recovered_at'),
  Slow: ({ is_sidelined }) => is_sidelined && 'delivered apart from others',
  Events: ({ events }) => events?.join(', ') ?? 'all events of a debit',
  Attempts: ({ max_attempts }) => max_attempts ?? 'by event type',
  Timeout: ({ timeout, connection_timeout }) => `${timeout} s, connection ${connection_timeout} s`,
  Payload: 'payload',
  'Old secret until': 'previous_until',
}

type CallsProps = { provider: string; webhook: WebhookResult | undefined }

const Calls = ({ provider, webhook }: CallsProps) => {
  const dayAgo = new Date(serviceNow() - 86_400_000).toISOString()
  return (
    <>
      <PingCall provider={provider} />
      {webhook?.health !== 'healthy' && (
        <Call
          of={['webhook', 'enable', { provider }]}
          about="Ends the failing state. New events are delivered again."
          done="The webhook is enabled."
        />
      )}
      <Call
        label="Change"
        of={['webhook', 'set', { provider }]}
        values={{ url: webhook?.url ?? '' }}
        current={webhook}
        about="Changes the given settings only. Another URL replaces the present one."
        done="The webhook is changed."
      />
      <Call
        label="Rotate the secret"
        of={['webhook', 'rotate-secret', { provider }]}
        done="The webhook has a new secret."
      />
      <Call
        of={['delivery', 'recover', { provider }]}
        about="Sends all undelivered events since a time again, at most 14 days ago."
        values={{ since: dayAgo.slice(0, 19).concat('Z') }}
        done={({ deliveries }) => `${deliveries} events are sent again.`}
      />
    </>
  )
}

/** One webhook with its newest deliveries. */
export const WebhookScreen = () => {
  const provider = place.value.id
  const watch = { entities: ['webhook', 'webhook-health'], key: provider }
  const webhook = useOperator('webhook', 'show', { provider }, watch)
  return (
    <Screen
      title={`Webhook of ${provider}`}
      back={['webhooks', 'webhooks']}
      actions={<Calls provider={provider} webhook={webhook.data} />}
    >
      <Panel title="Settings and health">
        <Data of={webhook}>{(shown) => <View of={shown} rows={settings} />}</Data>
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
