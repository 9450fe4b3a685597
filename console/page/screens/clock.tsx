import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { exchange } from '../client.ts'
import { Action, type ActionProps } from '../parts/action.tsx'
import { serviceDay } from '../parts/filters.tsx'
import { Panel, Screen } from '../parts/screen.tsx'
import { Data, Empty } from '../parts/states.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { ServiceTime, Status, Time } from '../parts/values.tsx'
import { linkTo } from '../route.ts'
import { type Loaded, useLoaded } from '../use-operator.ts'

type ClockResult = { now: string; frozen: boolean; ready: boolean }

const moved = ({ now, frozen }: ClockResult): string =>
  `The clock ${frozen ? 'stands' : 'shows'} at ${now.slice(0, 19).replace('T', ' ')} UTC.`

type MoveProps = Pick<ActionProps<ClockResult>, 'label' | 'about' | 'fields' | 'onDone'> & {
  body: (values: Record<string, string>) => Record<string, unknown>
}

const Move = ({ body, ...props }: MoveProps) => (
  <Action<ClockResult>
    {...props}
    perform={(values) => exchange('POST', '/sandbox/clock', body(values))}
    done={moved}
  />
)

const steps = [
  ['1m', '+1 minute'],
  ['6m', '+6 minutes'],
  ['1h', '+1 hour'],
  ['1d', '+1 day'],
] as const

const Clock = ({ clock: { data, reload } }: { clock: Loaded<ClockResult> }) => (
  <Panel
    title="Clock"
    actions={
      <Action
        label="Reset the sandbox"
        kind="danger"
        about="Deletes all debits, webhooks and changes, and restores the seeds and the time of this machine."
        confirmation={<p class="notice bad">Nothing can restore the deleted data.</p>}
        perform={() => exchange('POST', '/sandbox/reset')}
        done="The sandbox is new."
        onDone={reload}
      />
    }
  >
    <div class="stack">
      <p class="clock">
        <ServiceTime at={data?.frozen ? data.now : undefined} />{' '}
        {data && <span class="status">{data.frozen ? 'frozen' : 'running'}</span>}
      </p>
      <div class="row">
        {steps.map(([advance, label]) => (
          <Move key={advance} label={label} body={() => ({ advance })} onDone={reload} />
        ))}
        <Move
          label="Next midnight"
          body={() => ({ to: `${serviceDay(1)}T00:00:00Z` })}
          onDone={reload}
        />
        <Move
          label="Advance…"
          about="Moves the clock forward, from one due item to the next."
          fields={[{ name: 'advance', label: 'Duration, such as 30s, 6m, 2h or 5d', value: '30s' }]}
          body={({ advance }) => ({ advance })}
          onDone={reload}
        />
        <Move
          label="Move to…"
          about="Moves the clock forward to a time, from one due item to the next."
          fields={[{ name: 'to', label: 'Time', value: `${serviceDay(1)}T02:00:00Z` }]}
          body={({ to }) => ({ to })}
          onDone={reload}
        />
        <Move
          label={data?.frozen ? 'Run' : 'Freeze'}
          body={() => ({ freeze: !data?.frozen })}
          onDone={reload}
        />
      </div>
      <p class="muted">
        The clock moves forward only. Timers, delayed messages and nightly jobs run on the way.
      </p>
    </div>
  </Panel>
)

type ScenarioRow = { name: string; description: string }
type ScenarioResult = { reference: string; status: string } & Record<string, unknown>
type PlayedScenario = { id: number; name: string; at: string; result: ScenarioResult }

/** The scenarios that this page has played, newest first. */
const played = signal<readonly PlayedScenario[]>([])

const others = ({ reference, status, ...rest }: ScenarioResult): ComponentChildren =>
  Object.entries(rest).map(([name, value]) => (
    <div key={name}>
      <small class="break">
        {name.replaceAll('_', ' ')}: {typeof value === 'string' ? value : JSON.stringify(value)}
      </small>
    </div>
  ))

const playedColumns: Column<PlayedScenario>[] = [
  { title: 'Scenario', cell: ({ name }) => name },
  { title: 'Ended', cell: ({ at }) => <Time at={at} /> },
  {
    title: 'Debit',
    cell: ({ result: { reference } }) => (
      <a class="nowrap" href={linkTo('debit', reference)}>
        {reference}
      </a>
    ),
  },
  { title: 'Status', cell: ({ result }) => <Status value={result.status} /> },
  { title: 'Result', cell: ({ result }) => others(result) },
]

const Scenarios = ({ onPlayed }: { onPlayed: () => void }) => {
  const scenarios = useLoaded(() => exchange<ScenarioRow[]>('GET', '/sandbox/scenarios'), [])
  const [reference, setReference] = useState('')
  const play = async (name: string): Promise<ScenarioResult> => {
    const body = reference ? { reference } : {}
    const result = await exchange<ScenarioResult>('POST', `/sandbox/scenarios/${name}`, body)
    const at = new Date().toISOString()
    played.value = [{ id: played.value.length, name, at, result }, ...played.value]
    return result
  }
  const columns: Column<ScenarioRow>[] = [
    { title: 'Scenario', cell: ({ name }) => <strong>{name}</strong> },
    { title: 'Description', cell: ({ description }) => description },
    {
      title: '',
      cell: ({ name }) => (
        <Action
          label={`Play ${name}`}
          isSmall
          perform={() => play(name)}
          done={(result) => `${name}: ${result.reference} is ${result.status}.`}
          onDone={onPlayed}
        />
      ),
    },
  ]
  return (
    <Panel title="Scenarios">
      <div class="stack">
        <div class="filters">
          <label>
            Debit (optional)
            <input
              type="search"
              value={reference}
              placeholder="A new debit"
              onInput={(event) => setReference(event.currentTarget.value.trim())}
            />
          </label>
        </div>
        <Data of={scenarios}>
          {(rows) => (
            <Table label="Scenarios" columns={columns} rows={rows} keyOf={({ name }) => name} />
          )}
        </Data>
      </div>
    </Panel>
  )
}

/** The clock of a sandbox and its scenarios. */
export const ClockScreen = () => {
  // A move from elsewhere changes everything.
  const watch = { entities: ['*'] }
  const clock = useLoaded(() => exchange<ClockResult>('GET', '/sandbox/clock'), [], watch)
  return (
    <Screen title="Clock and scenarios" about="Tests of days take seconds.">
      {clock.error ? <Data of={clock}>{() => null}</Data> : <Clock clock={clock} />}
      <Panel title="Played scenarios">
        {played.value.length > 0 ? (
          <Table
            label="Played scenarios"
            columns={playedColumns}
            rows={played.value}
            keyOf={({ id }) => id}
          />
        ) : (
          <Empty title="No scenario played yet">
            A scenario below charges a debit and ends it.
          </Empty>
        )}
      </Panel>
      <Scenarios onPlayed={clock.reload} />
    </Screen>
  )
}
