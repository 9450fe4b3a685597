import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ScenarioResult, ScenarioSummary } from '../../server/backend.ts'
import { exchange, serviceNow } from '../client.ts'
import { Action } from '../parts/action.tsx'
import { Panel, Screen } from '../parts/screen.tsx'
import { type Column, List, Table } from '../parts/table.tsx'
import { Link, Status, Time } from '../parts/values.tsx'
import { place } from '../route.ts'
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
  { title: 'Debit', cell: ({ result: { reference } }) => <Link id={reference} /> },
  { title: 'Status', cell: ({ result }) => <Status value={result.status} /> },
  { title: 'Result', cell: ({ result }) => others(result), isWide: true },
]

const play = async (name: string): Promise<ScenarioResult> => {
  const reference = place.value.filters.reference?.trim()
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
    <Screen
      title="Scenarios"
      about="A scenario plays the customer, the bank and the receiver."
      filters={[{ name: 'reference', label: 'Debit (optional)', placeholder: 'A new debit' }]}
    >
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
        <List label="Scenarios" of={scenarios} columns={columns} keyOf={({ name }) => name} />
      </Panel>
    </Screen>
  )
}
