import { signal } from '@preact/signals'
import type { ScenarioResult, ScenarioSummary } from '../../server/backend.ts'
import { exchange, serviceNow } from '../client.ts'
import { Action } from '../parts/action.tsx'
import { Screen } from '../parts/screen.tsx'
import { TablePanel } from '../parts/table.tsx'
import { Noted, words } from '../parts/values.tsx'
import { place } from '../route.ts'
import { useLoaded } from '../use-operator.ts'

type PlayedScenario = ScenarioResult & { id: number; name: string; ended_at: string }

/** The scenarios that this page has played, newest first. */
const played = signal<readonly PlayedScenario[]>([])

const Others = ({
  of: { id, name, ended_at, reference, status, ...rest },
}: {
  of: PlayedScenario
}) => (
  <Noted of={null}>
    {Object.entries(rest).map(
      ([member, value]) =>
        `${words(member)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )}
  </Noted>
)

const play = async (name: string): Promise<ScenarioResult> => {
  const reference = place.value.filters.reference?.trim()
  const body = reference ? { reference } : {}
  const result = await exchange<ScenarioResult>('POST', `/sandbox/scenarios/${name}`, body)
  const ended_at = new Date(serviceNow()).toISOString()
  played.value = [{ ...result, id: played.value.length, name, ended_at }, ...played.value]
  return result
}

/** The scenarios of a sandbox. */
export const ScenariosScreen = () => {
  const scenarios = useLoaded(() => exchange<ScenarioSummary[]>('GET', '/sandbox/scenarios'), [])
  return (
    <Screen
      title="Scenarios"
      about="A scenario plays the customer, the bank and the receiver."
      filters={[
        {
          name: 'reference',
          label: 'Debit (optional)',
          type: 'search',
          placeholder: 'A new debit',
        },
      ]}
    >
      {played.value.length > 0 && (
        <TablePanel
          title="Played"
          label="Played scenarios"
          columns={{
            Scenario: 'name',
            Ended: 'ended_at',
            Debit: 'reference',
            Status: 'status',
            Result: { wide: (scenario) => <Others of={scenario} /> },
          }}
          of={played.value}
          keyOf={({ id }) => id}
        />
      )}
      <TablePanel
        label="Scenarios"
        of={scenarios}
        columns={{
          Play: {
            wide: ({ name }) => (
              <Action
                label={name}
                isSmall
                perform={() => play(name)}
                done={({ reference, status }) => `${name}: ${reference} is ${status}.`}
              />
            ),
          },
          Effect: 'description',
        }}
        keyOf={({ name }) => name}
      />
    </Screen>
  )
}
