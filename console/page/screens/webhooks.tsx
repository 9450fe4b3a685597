import type { DeliveryResult, PingResult } from '../../../shared/views/delivery.ts'
import type { WebhookSummary } from '../../../shared/views/operator/webhook.ts'
import { isSandbox, mayUse, operate } from '../client.ts'
import { OperatorAction } from '../parts/action.tsx'
import { DeliveryLink } from '../parts/delivery-drawer.tsx'
import { listScreen } from '../parts/list.tsx'
import { Empty, Panel } from '../parts/screen.tsx'
import { type Column, List } from '../parts/table.tsx'
import { Countdown, Link, Status, Time } from '../parts/values.tsx'
import { useLoaded } from '../use-operator.ts'

export const pingText = ({ delivered, response_code, cause, duration_ms }: PingResult): string =>
  delivered
    ? `The receiver accepted the ping: HTTP ${response_code} after ${duration_ms} ms.`
    : `The receiver did not accept the ping: ${response_code ? `HTTP ${response_code}` : cause}.`

const since = ({ failing_since, disabled_at, recovered_at }: WebhookSummary) =>
  disabled_at ?? failing_since ?? recovered_at

const columns: Column<WebhookSummary>[] = [
  { title: 'Provider', cell: ({ provider }) => <Link to="webhook" id={provider} mayWrap /> },
  { title: 'URL', cell: ({ url }) => <span class="mono">{url}</span>, isWide: true },
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
        call={['webhook', 'ping', { provider }]}
        about={`Sends a signed ping to ${provider}. A ping concerns no debit.`}
        done={pingText}
      />
    ),
  },
]

const SetWebhook = ({ onDone }: { onDone: () => void }) => (
  <OperatorAction
    label="Set a webhook"
    kind="primary"
    call={['webhook', 'set']}
    about={
      isSandbox()
        ? 'Events go to this URL, also if the provider has another. A receiver on this machine: npm run listen.'
        : 'Events of the provider go to this URL, also if it has another.'
    }
    values={{ url: isSandbox() ? 'http://127.0.0.1:4242/webhooks' : 'https://' }}
    done="The webhook is set."
    onDone={onDone}
  />
)

export const debitColumn: Column<DeliveryResult> = {
  title: 'Debit or batch',
  cell: ({ reference }) => <Link id={reference} mayWrap />,
}

export const eventColumn: Column<DeliveryResult> = {
  title: 'Event',
  cell: ({ id, event }) => <DeliveryLink id={id}>{event}</DeliveryLink>,
}

export const attemptColumns: Column<DeliveryResult>[] = [
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

type Retry = DeliveryResult & { provider: string }

const retryColumns: Column<Retry>[] = [
  debitColumn,
  { title: 'Provider', cell: ({ provider }) => <Link to="webhook" id={provider} mayWrap /> },
  eventColumn,
  ...attemptColumns,
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
    <Panel title="Pending retries">
      <List label="Pending retries" of={retries} columns={retryColumns} keyOf={({ id }) => id}>
        <Empty title="No retry is pending">
          An event that a receiver does not accept appears here until it is delivered or abandoned.
        </Empty>
      </List>
    </Panel>
  )
}

/** The webhooks of all providers with their health. */
export const WebhooksScreen = listScreen({
  title: 'Webhooks',
  about: () => 'The service sends the events of a provider’s debits to its webhook.',
  noun: 'webhook',
  entities: ['webhook', 'webhook-health'],
  actions: (reload) => <SetWebhook onDone={reload} />,
  columns,
  keyOf: ({ provider }) => provider,
  below: ({ rows }) => mayUse('delivery') && <PendingRetries webhooks={rows} />,
  empty: [
    'No provider has a webhook',
    'Choose “Set a webhook” to send the events of a provider to a URL.',
  ],
})
