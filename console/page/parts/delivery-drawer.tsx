import { useState } from 'preact/hooks'
import type { SentDelivery } from '../../../shared/views/operator/delivery.ts'
import { curlWith } from '../curl.ts'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { useOperator } from '../use-operator.ts'
import { Redeliver } from './call.tsx'
import { Copy, Message } from './copy.tsx'
import { Modal } from './modal.tsx'
import { Data, Facts } from './screen.tsx'
import { AttemptCount, Link, prettyJson, Status, Time, words } from './values.tsx'

type SentAttempt = SentDelivery['attempts'][number]

const outcomeOf = ({ response_code, cause }: SentAttempt): string =>
  response_code === null ? words(cause ?? 'no response') : `HTTP ${response_code}`

/** Shows tags and line breaks of a receiver's text, which the service has escaped. */
const receivedText = (text: string): string =>
  prettyJson(
    text.replaceAll(/\\u00(3c|3e|26|0a|09)/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`))),
  )

/** One attempt: what was sent, next to what the receiver replied. HTML is shown as text. */
const AttemptView = ({ attempt, body }: { attempt: SentAttempt; body: string }) => {
  const headers = Object.entries(attempt.request_headers)
  return (
    <>
      <Facts
        of={{
          Sent: <Time at={attempt.at} />,
          Outcome: outcomeOf(attempt),
          Duration: `${attempt.duration_ms} ms`,
          Address: attempt.address,
        }}
      />
      <Copy
        label="Copy as curl"
        text={curlWith('POST', '"$URL"', headers, body)}
        done="Copied. Set URL before you run it; it has no signature."
      />
      <div class="columns">
        <Message name="Request" headers={headers} body={body} />
        <Message name="Response" body={receivedText(attempt.response_body ?? '')} />
      </div>
    </>
  )
}

const Attempts = ({ delivery: { attempts, body } }: { delivery: SentDelivery }) => {
  const [chosen, setChosen] = useState<number>()
  const shown = attempts.find(({ attempt }) => attempt === chosen) ?? attempts.at(-1)
  return (
    <>
      <fieldset class="row" aria-label="Attempts">
        {attempts.map((one) => (
          <button
            key={one.attempt}
            type="button"
            class="small"
            aria-pressed={one === shown}
            onClick={() => setChosen(one.attempt)}
          >
            {one.attempt} <span class={one.cause === null ? 'good' : 'bad'}>{outcomeOf(one)}</span>
          </button>
        ))}
      </fieldset>
      {shown && <AttemptView attempt={shown} body={JSON.stringify(body, null, 2)} />}
    </>
  )
}

const close = (): void => setFilters({ delivery: undefined, cursor: place.value.filters.cursor })

const Drawer = ({ id }: { id: string }) => {
  const delivery = useOperator('delivery', 'show', { id }, { entities: ['delivery', 'receipt'] })
  const closing = (
    <button type="button" onClick={close}>
      Close
    </button>
  )
  return (
    <Modal title={`Delivery ${id}`} kind="drawer" onClose={close} actions={closing}>
      <Data of={delivery}>
        {(shown) => (
          <>
            <p>
              <Status value={shown.status} /> <span class="mono">{shown.event}</span> of{' '}
              <Link id={shown.reference} />
            </p>
            <div class="row">
              <AttemptCount of={shown} />
              <Redeliver id={shown.id} />
            </div>
            {shown.reason && <p class="notice warn">{shown.reason.message}</p>}
            <Attempts delivery={shown} />
          </>
        )}
      </Data>
    </Modal>
  )
}

/** The delivery that the address names, above the screen. */
export const DeliveryDrawer = () => {
  const { delivery } = place.value.filters
  return delivery ? <Drawer key={delivery} id={delivery} /> : null
}

/** Opens the drawer of a delivery above this screen. */
export const DeliveryLink = ({ id, children }: { id: number; children: string }) => {
  const { screen, id: object, filters } = place.value
  return <a href={linkTo(screen, object, { ...filters, delivery: String(id) })}>{children}</a>
}
