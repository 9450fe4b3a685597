import { useState } from 'preact/hooks'
import type { LoggedRequest } from '../../server/live.ts'
import { curlOf } from '../curl.ts'
import { requests } from '../live.ts'
import { Copy } from '../parts/copy.tsx'
import { Empty, Panel, Screen } from '../parts/screen.tsx'
import { Code, headersText, prettyJson, Time } from '../parts/values.tsx'
import { place } from '../route.ts'

const SHOWN_MAX = 200

const classes = ['2', '4', '5'].map((digit) => [digit, `${digit}xx`] as const)

const toneOfStatus = (status: number): string =>
  status < 300 ? 'good' : status < 500 ? 'warn' : 'bad'

const Message = ({ name, message }: { name: string; message: LoggedRequest['request'] }) => (
  <div>
    <h3>{name}</h3>
    {message.body ? (
      <Code label={`Body of the ${name.toLowerCase()}`} text={prettyJson(message.body)} />
    ) : (
      <small>No body</small>
    )}
    <details>
      <summary>Headers</summary>
      <Code label={`Headers of the ${name.toLowerCase()}`} text={headersText(message.headers)} />
    </details>
  </div>
)

const Entry = ({ entry }: { entry: LoggedRequest }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Time at={entry.at} />{' '}
          <span class={`status ${toneOfStatus(entry.status)}`}>{entry.status}</span>{' '}
          <span class="mono">
            {entry.method} {entry.target}
          </span>{' '}
          <small>{Math.round(entry.milliseconds)} ms</small>
        </summary>
        {isOpen && (
          <div class="stack">
            <Copy
              label="Copy as curl"
              text={curlOf(entry, location.origin)}
              done="Copied. Set TOKEN before you run it."
            />
            <div class="columns">
              <Message name="Request" message={entry.request} />
              <Message name="Reply" message={entry.reply} />
            </div>
          </div>
        )}
      </details>
    </li>
  )
}

const textOf = ({ method, target, request, reply }: LoggedRequest): string =>
  [method, target, request.body, reply.body, headersText(reply.headers)].join('\n').toLowerCase()

/** The last 1,000 requests to the API with their replies. */
export const RequestsScreen = () => {
  const { status = '', find = '' } = place.value.filters
  const matching = requests.value.filter(
    (entry) =>
      String(entry.status).startsWith(status) &&
      (find === '' || textOf(entry).includes(find.toLowerCase())),
  )
  return (
    <Screen
      title="Requests"
      about="The last 1,000 requests to the API of this sandbox, with their replies. Tokens are masked."
      filters={[
        { name: 'status', label: 'Status', options: classes },
        { name: 'find', label: 'Find', placeholder: 'Path, body or request id' },
      ]}
    >
      <Panel title="Newest first">
        {matching.length > 0 ? (
          <ol class="log">
            {matching.slice(0, SHOWN_MAX).map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
          </ol>
        ) : (
          <Empty title={requests.value.length > 0 ? 'No request matches' : 'No requests yet'}>
            {requests.value.length > 0
              ? 'Clear a filter to see more.'
              : 'Send a request to the API; it appears here at once.'}
          </Empty>
        )}
        {matching.length > SHOWN_MAX && (
          <p class="muted">
            The newest {SHOWN_MAX} of {matching.length}. Filter to see others.
          </p>
        )}
      </Panel>
    </Screen>
  )
}
