import { useState } from 'preact/hooks'
import type { DeliveryWithAttempts } from '../../../shared/views/delivery.ts'
import { operate } from '../client.ts'
import { useLoaded } from '../use-operator.ts'
import { OperatorAction } from './action.tsx'
import { Data } from './screen.tsx'
import { Code, Countdown, headersText, prettyJson, Status, Time } from './values.tsx'

const outcomeOf = ({ response_code, cause }: DeliveryWithAttempts['attempts'][number]): string =>
  response_code === null ? (cause ?? 'no response').replaceAll('_', ' ') : `HTTP ${response_code}`

const Attempt = ({ attempt }: { attempt: DeliveryWithAttempts['attempts'][number] }) => (
  <li>
    <div class="row">
      <strong>Attempt {attempt.attempt}</strong>
      <span class={attempt.cause === null ? 'good' : 'bad'}>{outcomeOf(attempt)}</span>
      <small>
        <Time at={attempt.at} />, {attempt.duration_ms} ms
        {attempt.address && ` to ${attempt.address}`}
      </small>
    </div>
    <details>
      <summary>Headers and response</summary>
      <Code label="Request headers" text={headersText(Object.entries(attempt.request_headers))} />
      {attempt.response_body && (
        <Code label="Response body" text={prettyJson(attempt.response_body)} />
      )}
      {!attempt.response_body && <small>The response has no body.</small>}
    </details>
  </li>
)

/** The body is the same in every attempt. */
const SentBody = ({ id }: { id: number }) => {
  const shown = useLoaded(() => operate('delivery', 'show', { id: String(id) }), [id])
  return (
    <Data of={shown}>
      {({ body }) => <Code label="Sent body" text={JSON.stringify(body, null, 2)} />}
    </Data>
  )
}

/** A delivery with its attempts. */
export const DeliveryLog = ({ delivery, onDone }: DeliveryLogProps) => {
  const [isOpen, setOpen] = useState(false)
  const { id, status, attempt_count, max_attempts, next_attempt_at, attempts } = delivery
  return (
    <div class="delivery">
      <div class="row">
        <Status value={status} />
        <small>
          {attempt_count} of {max_attempts} attempts
          {next_attempt_at && (
            <>
              , next <Countdown at={next_attempt_at} />
            </>
          )}
        </small>
        <OperatorAction
          label="Redeliver"
          isSmall
          call={['delivery', 'redeliver', { id: String(id) }]}
          about="Sends the event to the provider’s webhook again."
          done="The event is sent again."
          onDone={onDone}
        />
      </div>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          Attempts and bodies of <span class="mono">{delivery.event}</span>
        </summary>
        {isOpen && (
          <div class="stack">
            <ol class="attempts">
              {attempts.map((attempt) => (
                <Attempt key={attempt.attempt} attempt={attempt} />
              ))}
            </ol>
            <h3>Sent body</h3>
            <SentBody id={id} />
          </div>
        )}
      </details>
    </div>
  )
}

type DeliveryLogProps = { delivery: DeliveryWithAttempts; onDone: () => void }
