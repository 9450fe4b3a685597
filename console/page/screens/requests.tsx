import { useState } from 'preact/hooks'
import type { LoggedRequest } from '../../server/live.ts'
import { curlOf } from '../curl.ts'
import { requests } from '../live.ts'
import { Exchange, headersText } from '../parts/copy.tsx'
import { findFilter } from '../parts/field.tsx'
import { noMatchOf } from '../parts/list.tsx'
import { Empty, type EmptyText, Panel, Screen } from '../parts/screen.tsx'
import { Mark, prettyJson, Time } from '../parts/values.tsx'
import { place } from '../route.ts'

const SHOWN_MAX = 200

const classes = ['2', '4', '5'].map((digit) => [digit, `${digit}xx`] as const)

const toneOfStatus = (status: number) => (status < 300 ? 'good' : status < 500 ? 'warn' : 'bad')

const shown = ({ headers, body }: LoggedRequest['reply']) => ({ headers, body: prettyJson(body) })

const Entry = ({ entry }: { entry: LoggedRequest }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Time at={entry.at} /> <Mark tone={toneOfStatus(entry.status)}>{entry.status}</Mark>{' '}
          <span class="mono">
            {entry.method} {entry.target}
          </span>{' '}
          <small>{Math.round(entry.milliseconds)} ms</small>
        </summary>
        {isOpen && (
          <div class="stack">
            <Exchange
              curl={curlOf(entry, location.origin)}
              done="Set TOKEN before you run it."
              messages={[
                { name: 'Request', ...shown(entry.request) },
                { name: 'Reply', ...shown(entry.reply) },
              ]}
            />
          </div>
        )}
      </details>
    </li>
  )
}

const textOf = ({ method, target, request, reply }: LoggedRequest): string =>
  [method, target, request.body, reply.body, headersText(reply.headers)].join('\n').toLowerCase()

const NONE: EmptyText = ['No requests yet', 'Send a request to the API; it appears here at once.']

export const RequestsScreen = () => {
  const { status = '', find = '' } = place.value.filters
  const matching = requests.value.filter(
    (entry) =>
      String(entry.status).startsWith(status) &&
      (find === '' || textOf(entry).includes(find.toLowerCase())),
  )
  return (
    <Screen
      about="The last 1,000 requests to the API of this sandbox, with their replies. Tokens are masked."
      filters={[
        { name: 'status', label: 'Status', choices: classes },
        { ...findFilter, placeholder: 'Path, body or request id' },
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
          <Empty of={requests.value.length > 0 ? noMatchOf('request') : NONE} />
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
