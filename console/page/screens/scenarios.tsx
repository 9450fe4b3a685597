import { signal } from '@preact/signals'
import type { ScenarioResult, ScenarioSummary } from '../../server/backend.ts'
import { exchange, serviceNow } from '../client.ts'
import { Action } from '../parts/action.tsx'
import { Screen } from '../parts/screen.tsx'
import { named, TablePanel } from '../parts/table.tsx'
import { Noted, words } from '../parts/values.tsx'
import { place } from '../route.ts'
import { useLoaded } from '../use-operator.ts'

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

/** The scenarios of a sandbox. */
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
