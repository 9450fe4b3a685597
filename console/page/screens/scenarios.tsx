import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ScenarioResult, ScenarioSummary } from '../../server/backend.ts'
import { exchange, serviceNow } from '../client.ts'
import { Action } from '../parts/action.tsx'
import { Panel, Screen } from '../parts/screen.tsx'
import { Data } from '../parts/states.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Status, Time } from '../parts/values.tsx'
import { linkTo, place, setFilters } from '../route.ts'
import { useLoaded } from '../use-operator.ts'

type PlayedScenario = { id: number; name: string; at: string; result: ScenarioResult }

/** The scenarios that this page has played, newest first. */
const played = signal<readonly PlayedScenario[]>([])

const others = ({ reference, status, ...rest }: ScenarioResult): ComponentChildren =>
  Object.entries(rest).map(([name, value]) => (
    <small key={name} class="block break">
      {name.replaceAll('_', ' ')}: {typeof value === 'string' ? value : JSON.stringify(value)}
    </small>
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
  { title: 'Result', cell: ({ result }) => others(result), isWide: true },
]

const play = async (name: string): Promise<ScenarioResult> => {
  const { reference } = place.value.filters
  const body = reference ? { reference } : {}
  const result = await exchange<ScenarioResult>('POST', `/sandbox/scenarios/${name}`, body)
  const at = new Date(serviceNow()).toISOString()
  played.value = [{ id: played.value.length, name, at, result }, ...played.value]
  return result
}

const columns: Column<ScenarioSummary>[] = [
  {
    title: 'Play',
    isWide: true,
    cell: ({ name }) => (
      <Action
        label={name}
        isSmall
        perform={() => play(name)}
        done={(result) => `${name}: ${result.reference} is ${result.status}.`}
      />
    ),
  },
  { title: 'Effect', cell: ({ description }) => description, isWide: true },
]

/** The scenarios of a sandbox. */
export const ScenariosScreen = () => {
  const scenarios = useLoaded(() => exchange<ScenarioSummary[]>('GET', '/sandbox/scenarios'), [])
  return (
    <Screen title="Scenarios" about="A scenario plays the customer, the bank and the receiver.">
      <div class="filters">
        <label>
          Debit (optional)
          <input
            type="search"
            value={place.value.filters.reference ?? ''}
            placeholder="A new debit"
            onInput={({ currentTarget: { value } }) =>
              setFilters({ reference: value.trim() || undefined })
            }
          />
        </label>
      </div>
      {played.value.length > 0 && (
        <Panel title="Played">
          <Table
            label="Played scenarios"
            columns={playedColumns}
            rows={played.value}
            keyOf={({ id }) => id}
          />
        </Panel>
      )}
      <Panel>
        <Data of={scenarios}>
          {(rows) => (
            <Table label="Scenarios" columns={columns} rows={rows} keyOf={({ name }) => name} />
          )}
        </Data>
      </Panel>
    </Screen>
  )
}
