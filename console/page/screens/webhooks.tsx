import type { DeliveryResult, PingResult } from '../../../shared/views/delivery.ts'
import type { WebhookSummary } from '../../../shared/views/operator/webhook.ts'
import { isSandbox, mayUse, operate } from '../client.ts'
import { OperatorAction } from '../parts/action.tsx'
import { Panel, Screen } from '../parts/screen.tsx'
import { Data, Empty } from '../parts/states.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Countdown, Status, Time } from '../parts/values.tsx'
import { linkTo } from '../route.ts'
import { useLoaded, useOperator } from '../use-operator.ts'

export const pingText = ({ delivered, response_code, cause, duration_ms }: PingResult): string =>
  delivered
    ? `The receiver accepted the ping: HTTP ${response_code} after ${duration_ms} ms.`
    : `The receiver did not accept the ping: ${response_code ? `HTTP ${response_code}` : cause}.`

const since = ({ failing_since, disabled_at, recovered_at }: WebhookSummary) =>
  disabled_at ?? failing_since ?? recovered_at

const columns: Column<WebhookSummary>[] = [
  {
    title: 'Provider',
    cell: ({ provider }) => <a href={linkTo('webhook', provider)}>{provider}</a>,
  },
  { title: 'URL', cell: ({ url }) => <span class="mono">{url}</span> },
  { title: 'Health', cell: ({ health }) => <Status value={health} /> },
  { title: 'Since', cell: (webhook) => <Time at={since(webhook)} /> },
  {
    title: 'Events',
    cell: ({ events }) => <small>{events?.join(', ') ?? 'all of a debit'}</small>,
  },
  {
    title: '',
    cell: ({ provider }) => (
      <OperatorAction
        label="Ping"
        isSmall
        noun="webhook"
        verb="ping"
        options={{ provider }}
        about={`Sends a signed ping to ${provider}. A ping concerns no debit.`}
        done={pingText}
      />
    ),
  },
]

const SetWebhook = ({ onDone }: { onDone: () => void }) => {
  const providers = useOperator('provider', 'list', {})
  return (
    <OperatorAction
      label="Set a webhook"
      kind="primary"
      noun="webhook"
      verb="set"
      about={
        isSandbox()
          ? 'Events go to this URL. A receiver on this machine: npm run listen.'
          : 'Events of the provider go to this URL.'
      }
      fields={[
        {
          name: 'provider',
          label: 'Provider',
          options: providers.data?.map(({ id }) => [id, id] as const) ?? [],
        },
        {
          name: 'url',
          label: 'URL',
          value: isSandbox() ? 'http://127.0.0.1:4242/webhooks' : 'https://',
        },
      ]}
      done="The webhook is set."
      onDone={onDone}
    />
  )
}

type Retry = DeliveryResult & { provider: string }

const retryColumns: Column<Retry>[] = [
  {
    title: 'Debit or batch',
    cell: ({ reference }) => (
      <a href={linkTo(reference.startsWith('STL') ? 'batch' : 'debit', reference)}>{reference}</a>
    ),
  },
  {
    title: 'Provider',
    cell: ({ provider }) => <a href={linkTo('webhook', provider)}>{provider}</a>,
  },
  { title: 'Event', cell: ({ event }) => <span class="mono">{event}</span> },
  {
    title: 'Attempts',
    cell: ({ attempt_count, max_attempts }) => `${attempt_count} of ${max_attempts}`,
    isNumber: true,
  },
  {
    title: 'Last response',
    cell: ({ response_code, reason }) =>
      response_code ? `HTTP ${response_code}` : reason?.message,
  },
  {
    title: 'Next attempt',
    cell: ({ next_attempt_at }) => next_attempt_at && <Countdown at={next_attempt_at} />,
  },
]

const listRetries = async (webhooks: readonly WebhookSummary[]): Promise<Retry[]> => {
  const lists = await Promise.all(
    webhooks.map(async ({ provider }) => {
      const deliveries = await operate('delivery', 'list', { provider })
      return deliveries.map((delivery) => ({ ...delivery, provider }))
    }),
  )
  const timeOf = ({ next_attempt_at }: Retry): string => next_attempt_at ?? ''
  return lists
    .flat()
    .filter((delivery) => timeOf(delivery) !== '')
    .sort((one, other) => timeOf(one).localeCompare(timeOf(other)))
}

/** Failed deliveries of all providers, the next attempt first. */
const PendingRetries = ({ webhooks }: { webhooks: readonly WebhookSummary[] }) => {
  const retries = useLoaded(
    () => listRetries(webhooks),
    webhooks.map(({ provider }) => provider),
    { entities: ['delivery'] },
  )
  return (
    <Data of={retries}>
      {(rows) =>
        rows.length > 0 ? (
          <Table
            label="Pending retries"
            columns={retryColumns}
            rows={rows}
            keyOf={({ id }) => id}
          />
        ) : (
          <Empty title="No retry is pending">
            An event that a receiver does not accept appears here until it is delivered or
            abandoned.
          </Empty>
        )
      }
    </Data>
  )
}

/** The webhooks of all providers with their health. */
export const WebhooksScreen = () => {
  const entities = ['webhook', 'webhook-health']
  const webhooks = useOperator('webhook', 'list', {}, { entities })
  return (
    <Screen
      title="Webhooks"
      about="The service sends the events of a provider’s debits to its webhook."
      actions={<SetWebhook onDone={webhooks.reload} />}
    >
      <Panel>
        <Data of={webhooks}>
          {(rows) =>
            rows.length > 0 ? (
              <Table
                label="Webhooks"
                columns={columns}
                rows={rows}
                keyOf={({ provider }) => provider}
              />
            ) : (
              <Empty title="No provider has a webhook">
                Choose “Set a webhook” to send the events of a provider to a URL.
              </Empty>
            )
          }
        </Data>
      </Panel>
      {mayUse('delivery') && webhooks.data && (
        <Panel title="Pending retries">
          <PendingRetries webhooks={webhooks.data} />
        </Panel>
      )}
    </Screen>
  )
}
