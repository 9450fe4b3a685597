import { useState } from 'preact/hooks'
import type { SentDelivery } from '../../../shared/views/operator/delivery.ts'
import { curlWith } from '../curl.ts'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { useOperator } from '../use-operator.ts'
import { Button } from './button.tsx'
import { Call } from './call.tsx'
import { Exchange } from './copy.tsx'
import { Data, Modal } from './screen.tsx'
import { View, type ViewColumns } from './table.tsx'
import { AttemptCount, Link, prettyJson, Status, words } from './values.tsx'

type SentAttempt = SentDelivery['attempts'][number]

const outcomeOf = ({ response_code, cause }: SentAttempt): string =>
  response_code === null ? words(cause ?? 'no response') : `HTTP ${response_code}`

const attemptFacts: ViewColumns<SentAttempt> = {
  Sent: 'at',
  Outcome: outcomeOf,
  Duration: ({ duration_ms }) => `${duration_ms} ms`,
  Address: 'address',
}

/** Shows tags and line breaks of a receiver's text, which the service has escaped. */
const receivedText = (text: string): string =>
  prettyJson(
    text.replaceAll(/\\u00(3c|3e|26|0a|09)/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`))),
  )

const Attempts = ({ attempts, body: sent }: SentDelivery) => {
  const [chosen, setChosen] = useState<number>()
  const shown = attempts.find(({ attempt }) => attempt === chosen) ?? attempts.at(-1)
  const headers = Object.entries(shown?.request_headers ?? {})
  const body = JSON.stringify(sent, null, 2)
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
              { name: 'Response', body: receivedText(shown.response_body ?? '') },
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
  if (!id) return null
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
