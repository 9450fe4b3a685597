import { useEffect, useRef, useState } from 'preact/hooks'
import type { SentDelivery } from '../../../shared/views/operator/delivery.ts'
import { curlWith } from '../curl.ts'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { useOperator } from '../use-operator.ts'
import { OperatorAction } from './action.tsx'
import { Copy } from './copy.tsx'
import { Data, Facts } from './screen.tsx'
import { Code, Countdown, headersText, Link, receivedText, Status, Time } from './values.tsx'

type SentAttempt = SentDelivery['attempts'][number]

const outcomeOf = ({ response_code, cause }: SentAttempt): string =>
  response_code === null ? (cause ?? 'no response').replaceAll('_', ' ') : `HTTP ${response_code}`

type MessageProps = { name: string; headers?: string; text: string | null; none: string }

const Message = ({ name, headers, text, none }: MessageProps) => (
  <section>
    <div class="head">
      <h3>{name}</h3>
      {text && <Copy label={`Copy ${name.toLowerCase()}`} text={text} />}
    </div>
    {headers && <Code label={`Headers of the ${name.toLowerCase()}`} text={headers} />}
    {text ? (
      <Code label={`Body of the ${name.toLowerCase()}`} text={text} />
    ) : (
      <small>{none}</small>
    )}
  </section>
)

/** One attempt: what was sent, next to what the receiver replied. HTML is shown as text. */
const AttemptView = ({ attempt, body }: { attempt: SentAttempt; body: string }) => {
  const headers = Object.entries(attempt.request_headers)
  return (
    <>
      <Facts
        rows={[
          ['Sent', <Time at={attempt.at} />],
          ['Outcome', outcomeOf(attempt)],
          ['Duration', `${attempt.duration_ms} ms`],
          ['Address', attempt.address],
        ]}
      />
      <Copy
        label="Copy as curl"
        text={curlWith('POST', '"$URL"', headers, body)}
        done="Copied. Set URL before you run it; it has no signature."
      />
      <div class="columns">
        <Message name="Request" headers={headersText(headers)} text={body} none="" />
        <Message
          name="Response"
          text={attempt.response_body && receivedText(attempt.response_body)}
          none="The response has no body."
        />
      </div>
    </>
  )
}

const Attempts = ({ delivery }: { delivery: SentDelivery }) => {
  const { attempts, body } = delivery
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
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => element.current?.showModal(), [])
  const delivery = useOperator('delivery', 'show', { id }, { entities: ['delivery', 'receipt'] })
  return (
    <dialog ref={element} class="drawer stack" aria-label={`Delivery ${id}`} onClose={close}>
      <div class="head">
        <h2>Delivery {id}</h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <Data of={delivery}>
        {(shown) => (
          <>
            <p>
              <Status value={shown.status} /> <span class="mono">{shown.event}</span> of{' '}
              <Link id={shown.reference} />
            </p>
            <div class="row">
              <span class="muted">
                {shown.attempt_count} of {shown.max_attempts} attempts
                {shown.next_attempt_at && (
                  <>
                    , next <Countdown at={shown.next_attempt_at} />
                  </>
                )}
              </span>
              <OperatorAction
                label="Redeliver"
                isSmall
                call={['delivery', 'redeliver', { id }]}
                about="Sends the event to the provider’s webhook again."
                done="The event is sent again."
                onDone={delivery.reload}
              />
            </div>
            {shown.reason && <p class="notice warn">{shown.reason.message}</p>}
            <Attempts delivery={shown} />
          </>
        )}
      </Data>
    </dialog>
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
