import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { ClockState, ScenarioResult, ScenarioSummary } from '../../server/backend.ts'
import type { LoggedRequest } from '../../server/live.ts'
import { exchange, serviceNow } from '../client.ts'
import { curlOf } from '../curl.ts'
import { requests } from '../live.ts'
import { Action, type ActionProps } from '../parts/action.tsx'
import { findFilter, serviceDay } from '../parts/field.tsx'
import { noMatchOf } from '../parts/list.tsx'
import { Exchange, headersText } from '../parts/result.tsx'
import { Data, Empty, type EmptyText, Panel, Screen } from '../parts/screen.tsx'
import { named, TablePanel } from '../parts/table.tsx'
import { Mark, Noted, ServiceTime, Time, words } from '../parts/values.tsx'
import { place } from '../route.ts'
import { useLoaded } from '../use-operator.ts'

const SHOWN_MAX = 200

const toneOfStatus = (status: number) => (status < 300 ? 'good' : status < 500 ? 'warn' : 'bad')

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
                { name: 'Request', ...entry.request },
                { name: 'Reply', ...entry.reply },
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
        { name: 'status', choices: ['2', '4', '5'].map((digit) => [digit, `${digit}xx`] as const) },
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

const moved = ({ now, frozen }: ClockState): string =>
  `The clock ${frozen ? 'stands' : 'is'} at ${now.slice(0, 19).replace('T', ' ')} UTC.`

type Move = Pick<ActionProps<ClockState>, 'label' | 'about' | 'fields'> & {
  /** By default the values of the form. */
  body?: Record<string, unknown>
}

const movesOf = ({ frozen }: ClockState): Move[] => [
  { label: '+1 minute', body: { advance: '1m' } },
  { label: '+6 minutes', body: { advance: '6m' } },
  { label: '+1 hour', body: { advance: '1h' } },
  { label: '+1 day', body: { advance: '1d' } },
  { label: 'Next midnight', body: { to: `${serviceDay(1)}T00:00:00Z` } },
  {
    label: 'Advance…',
    about: 'Moves the clock forward by a duration.',
    fields: [{ name: 'advance', label: 'Duration, such as 30s, 6m, 2h or 5d', value: '30s' }],
  },
  {
    label: 'Move to…',
    about: 'Moves the clock forward to a time.',
    fields: [{ name: 'to', label: 'Time (UTC)', value: `${serviceDay(1)}T02:00:00Z` }],
  },
  { label: frozen ? 'Run' : 'Freeze', body: { freeze: !frozen } },
]

const readClock = () => exchange<ClockState>('GET', '/sandbox/clock')

export const ClockScreen = () => (
  <Screen
    about="The time of the sandbox, for tests of timeouts, retries and settlement."
    actions={
      <Action
        label="Reset the sandbox"
        kind="danger"
        about="Deletes all debits, webhooks and changes. Restores the seeds and the time of this machine."
        confirmation={() => <p class="notice bad">The deleted data cannot be restored.</p>}
        perform={() => exchange('POST', '/sandbox/reset')}
        done="The sandbox is new."
      />
    }
  >
    <Panel>
      {/* A move from elsewhere changes everything. */}
      <Data of={useLoaded(['clock'], readClock, { entities: ['*'] })}>
        {(clock) => (
          <>
            <p class="clock">
              <ServiceTime />
            </p>
            <Mark tone={clock.frozen ? 'warn' : 'good'}>{clock.frozen ? 'frozen' : 'running'}</Mark>
            <div class="row">
              {movesOf(clock).map(({ body, ...move }) => (
                <Action<ClockState>
                  key={move.label}
                  {...move}
                  perform={(values) => exchange('POST', '/sandbox/clock', body ?? values)}
                  done={moved}
                />
              ))}
            </div>
            <p class="muted">
              The clock moves forward only, from one due item to the next. Timers, retries and
              nightly jobs run on the way.
            </p>
          </>
        )}
      </Data>
    </Panel>
  </Screen>
)

type PlayedScenario = ScenarioResult & { id: number; scenario: string; ended_at: string }

/** The scenarios that this page has played, newest first. */
const played = signal<readonly PlayedScenario[]>([])

const othersOf = ({ id, scenario, ended_at, reference, status, ...rest }: PlayedScenario) => (
  <Noted of={null}>
    {Object.entries(rest).map(
      ([member, value]) =>
        `${words(member)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )}
  </Noted>
)

const play = async (scenario: string): Promise<ScenarioResult> => {
  const reference = place.value.filters.reference?.trim()
  const body = reference ? { reference } : {}
  const result = await exchange<ScenarioResult>('POST', `/sandbox/scenarios/${scenario}`, body)
  const ended_at = new Date(serviceNow()).toISOString()
  played.value = [{ ...result, id: played.value.length, scenario, ended_at }, ...played.value]
  return result
}

const reference = { name: 'reference', label: 'Debit (optional)', placeholder: 'A new debit' }

export const ScenariosScreen = () => (
  <Screen
    about="A scenario plays the customer, the bank and the receiver."
    filters={[{ ...reference, type: 'search' }]}
  >
    {played.value.length > 0 && (
      <TablePanel
        title="Played"
        label="Played scenarios"
        columns={{
          ...named('scenario', 'ended_at', 'reference as Debit', 'status'),
          Result: { wide: othersOf },
        }}
        of={played.value}
      />
    )}
    <TablePanel
      label="Scenarios"
      of={useLoaded(['scenarios'], () => exchange<ScenarioSummary[]>('GET', '/sandbox/scenarios'))}
      columns={{
        Play: {
          wide: ({ name }) => (
            <Action
              label={name}
              perform={() => play(name)}
              done={({ reference, status }) => `${name}: ${reference} is ${status}.`}
            />
          ),
        },
        Effect: 'description',
      }}
    />
  </Screen>
)
