import { useState } from 'preact/hooks'
import type { DeliveryResult } from '../../../shared/views/delivery.ts'
import type { SentDelivery } from '../../../shared/views/operator/delivery.ts'
import type { WebhookResult, WebhookSummary } from '../../../shared/views/operator/webhook.ts'
import { isSandbox, LIMIT_MAX, mayUse, operate, serviceNow } from '../client.ts'
import { curlWith } from '../curl.ts'
import { Button } from '../parts/button.tsx'
import { Call } from '../parts/call.tsx'
import { ListPanel, listScreen } from '../parts/list.tsx'
import { Exchange } from '../parts/result.tsx'
import { Data, Modal, Panel, Screen } from '../parts/screen.tsx'
import { named, TablePanel, View, type ViewColumns } from '../parts/table.tsx'
import { AttemptCount, Countdown, Link, Noted, Status, Time, words } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { useLoaded, useOperator } from '../use-operator.ts'

type SentAttempt = SentDelivery['attempts'][number]

export const outcomeOf = (
  attempt: Pick<SentAttempt, 'response_code' | 'cause'> | undefined,
): string => {
  if (!attempt) return ''
  const { response_code, cause } = attempt
  return response_code === null ? words(cause ?? 'no response') : `HTTP ${response_code}`
}

const attemptFacts: ViewColumns<SentAttempt> = {
  Sent: 'at',
  Outcome: outcomeOf,
  Duration: ({ duration_ms }) => `${duration_ms} ms`,
  Address: 'address',
}

/** Shows tags and line breaks of a receiver's text, which the service has escaped. */
const receivedText = (text: string): string =>
  text.replaceAll(/\\u00(3c|3e|26|0a|09)/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`)))

const Attempts = ({ attempts, body: sent }: SentDelivery) => {
  const [chosen, setChosen] = useState<number>()
  const shown = attempts.find(({ attempt }) => attempt === chosen) ?? attempts.at(-1)
  const headers = Object.entries(shown?.request_headers ?? {})
  const body = JSON.stringify(sent, null, 2)
  const none = shown?.response_code === null ? 'No response.' : undefined
  return (
    <>
      <fieldset class="row" aria-label="Attempts">
        {attempts.map((one) => (
          <Button
            key={one.attempt}
            aria-pressed={one === shown}
            onClick={() => setChosen(one.attempt)}
          >
            {one.attempt} <span class={one.cause === null ? 'good' : 'bad'}>{outcomeOf(one)}</span>
          </Button>
        ))}
      </fieldset>
      {shown && (
        <>
          <View of={shown} rows={attemptFacts} />
          <Exchange
            curl={curlWith('POST', '"$URL"', headers, body)}
            done="Set URL before you run it; it has no signature."
            messages={[
              { name: 'Request', headers, body },
              { name: 'Response', body: receivedText(shown.response_body ?? ''), none },
            ]}
          />
        </>
      )}
    </>
  )
}

const close = (): void => setFilters({ delivery: undefined, cursor: place.value.filters.cursor })

/** The delivery that the address names, above the screen. */
export const DeliveryDrawer = () => {
  const { delivery: id } = place.value.filters
  const watch = { entities: ['delivery', 'receipt'] }
  const delivery = useOperator('delivery', 'show', id ? { id } : undefined, watch)
  if (!id || !mayUse('delivery')) return null
  const closing = <Button onClick={close}>Close</Button>
  return (
    <Modal key={id} title={`Delivery ${id}`} kind="drawer" onClose={close} actions={closing}>
      <Data of={delivery}>
        {(shown) => (
          <>
            <p>
              <Status value={shown.status} /> <span class="mono">{shown.event}</span> of{' '}
              <Link id={shown.reference} />
            </p>
            <div class="row">
              <AttemptCount of={shown} />
              <Call of={['delivery', 'redeliver', { id }]} />
            </div>
            {shown.reason && <p class="notice warn">{shown.reason.message}</p>}
            <Attempts {...shown} />
          </>
        )}
      </Data>
    </Modal>
  )
}

/** Opens the drawer of a delivery above this screen. */
export const DeliveryLink = ({ id, event }: { id: number; event: string }) => {
  const { screen, id: object, filters } = place.value
  return <a href={linkTo(screen, object, { ...filters, delivery: String(id) })}>{event}</a>
}

const provider = ({ provider: id }: { provider: string }) => <Link to="webhook" id={id} mayWrap />

const eventColumns: ViewColumns<DeliveryResult> = {
  'Debit or batch': ({ reference }) => <Link id={reference} mayWrap />,
  Event: DeliveryLink,
}

const attemptColumns: ViewColumns<DeliveryResult> = {
  Attempts: { number: ({ attempt_count, max_attempts }) => `${attempt_count} of ${max_attempts}` },
  'Last response': ({ response_code, reason }) =>
    response_code ? `HTTP ${response_code}` : reason?.message,
  'Next attempt': ({ next_attempt_at: at }) => at && <Countdown at={at} />,
}

/** Looks through the newest deliveries of each webhook: a filter by status would read all. */
const listRetries = async (providers: readonly string[], signal: AbortSignal) => {
  const lists = await Promise.all(
    providers.map(async (provider) => {
      const deliveries = await operate('delivery', 'list', { provider, limit: LIMIT_MAX }, signal)
      return deliveries.map((delivery) => ({ ...delivery, provider }))
    }),
  )
  const timeOf = ({ next_attempt_at }: DeliveryResult): string => next_attempt_at ?? ''
  return lists
    .flat()
    .filter(timeOf)
    .sort((one, other) => timeOf(one).localeCompare(timeOf(other)))
}

/** Failed deliveries of all providers, the next attempt first. */
const PendingRetries = ({ webhooks }: { webhooks: readonly WebhookSummary[] }) => {
  const providers = webhooks.map(({ provider }) => provider)
  const load = (signal: AbortSignal) => listRetries(providers, signal)
  return (
    <TablePanel
      title="Pending retries"
      of={useLoaded(['retries', ...providers], load, { entities: ['delivery'] })}
      columns={{ ...eventColumns, Provider: provider, ...attemptColumns }}
      empty={[
        'No retry is pending',
        `An event that a receiver does not accept appears here until it is delivered or abandoned, if it is among the newest ${LIMIT_MAX} deliveries of its webhook.`,
      ]}
    />
  )
}

export const WebhooksScreen = listScreen({
  about: () => 'The service sends the events of a provider’s debits to its webhook.',
  noun: 'webhook',
  entities: ['webhook', 'webhook-health'],
  actions: () => (
    <Call
      label="Set a webhook"
      kind="primary"
      of={['webhook', 'set']}
      about={`Events of the provider go to this URL, also if it has another.${
        isSandbox() ? ' A receiver on this machine: npm run listen.' : ''
      }`}
      values={{ url: isSandbox() ? 'http://127.0.0.1:4242/webhooks' : 'https://' }}
      done="The webhook is set."
    />
  ),
  columns: {
    Provider: provider,
    ...named('url', 'health'),
    Since: ({ failing_since, disabled_at, recovered_at }) => (
      <Time at={disabled_at ?? failing_since ?? recovered_at} />
    ),
    Events: ({ events }) => <small>{events?.join(', ') ?? 'all of a debit'}</small>,
    '': ({ provider }) => <Call of={['webhook', 'ping', { provider }]} />,
  },
  below: ({ rows }) => mayUse('delivery') && <PendingRetries webhooks={rows} />,
  empty: [
    'No provider has a webhook',
    'Choose “Set a webhook” to send the events of a provider to a URL.',
  ],
})

const meanings: Partial<Record<WebhookResult['health'], string>> = {
  exhausted: 'A delivery was abandoned. The next success sends the abandoned events again.',
  disabled: 'Nothing is sent until a ping succeeds or “Enable”.',
}

const settings: ViewColumns<WebhookResult> = {
  ...named('url'),
  Health: ({ health }) => <Noted of={<Status value={health} />}>{meanings[health]}</Noted>,
  ...named('failing_since', 'disabled_at', 'recovered_at'),
  Slow: ({ is_sidelined }) => is_sidelined && 'delivered apart from others',
  Events: ({ events }) => events?.join(', ') ?? 'all events of a debit',
  Attempts: ({ max_attempts }) => max_attempts ?? 'by event type',
  Timeout: ({ timeout, connection_timeout }) => `${timeout} s, connection ${connection_timeout} s`,
  ...named('payload', 'previous_until as Old secret until'),
}

export const WebhookScreen = () => {
  const provider = place.value.id
  const watch = { entities: ['webhook', 'webhook-health'], key: provider }
  const webhook = useOperator('webhook', 'show', { provider }, watch)
  const { health, url = '' } = webhook.data ?? {}
  const dayAgo = new Date(serviceNow() - 86_400_000).toISOString()
  return (
    <Screen
      title={`Webhook of ${provider}`}
      back={['webhooks', 'webhooks']}
      actions={
        <>
          <Call of={['webhook', 'ping', { provider }]} />
          {health !== 'healthy' && <Call of={['webhook', 'enable', { provider }]} />}
          <Call
            label="Change"
            of={['webhook', 'set', { provider }]}
            values={{ url }}
            current={webhook.data}
            about="Changes the given settings only. Another URL replaces the present one."
            done="The webhook is changed."
          />
          <Call of={['webhook', 'rotate-secret', { provider }]} />
          <Call
            of={['delivery', 'recover', { provider }]}
            values={{ since: `${dayAgo.slice(0, 19)}Z` }}
          />
        </>
      }
    >
      <Panel title="Settings and health">
        <Data of={webhook}>{(shown) => <View of={shown} rows={settings} />}</Data>
      </Panel>
      <ListPanel
        label="Deliveries"
        noun="delivery"
        options={{ provider }}
        entities={['delivery', 'receipt', 'feed-page']}
        columns={{
          ...eventColumns,
          Status: 'status',
          ...attemptColumns,
          Ended: ({ delivered_at, failed_at }) => <Time at={delivered_at ?? failed_at} />,
          '': ({ id }) => <Call of={['delivery', 'redeliver', { id: String(id) }]} />,
        }}
        empty={[
          'No deliveries yet',
          `A delivery appears here with the next event of a debit of ${provider}.`,
        ]}
      />
    </Screen>
  )
}
