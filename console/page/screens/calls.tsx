import type { NounName } from '../../../shared/operator/results.ts'
import type { VerbForm } from '../../server/backend.ts'
import { mayUse, settings } from '../client.ts'
import { CatalogueAction } from '../parts/action.tsx'
import { NoMatch } from '../parts/list.tsx'
import { showResult } from '../parts/result.tsx'
import { Panel, Screen } from '../parts/screen.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { place } from '../route.ts'

type CallRow = VerbForm & { noun: string; verb: string }

const columns: Column<CallRow>[] = [
  { title: 'Call', cell: ({ noun, verb }) => <strong>{`${noun} ${verb}`}</strong> },
  { title: 'Effect', cell: ({ summary }) => summary, isWide: true },
  { title: 'Approval', cell: ({ approval }) => <small>{approval}</small>, isWide: true },
  {
    title: '',
    cell: ({ noun, verb, effect }) => (
      <CatalogueAction
        label={effect === 'reads' ? 'Read' : 'Call'}
        isSmall
        call={[noun, verb]}
        confirmation={() => null}
        movesMoney={effect === 'money'}
        done="The call was made."
        onDone={(result) => showResult(`${noun} ${verb}`, result)}
      />
    ),
  },
]

/** Every verb of the operator command with its form. */
export const CallsScreen = () => {
  const { find = '' } = place.value.filters
  const calls = Object.entries(settings.value?.forms ?? {})
    .filter(([noun]) => mayUse(noun as NounName))
    .flatMap(([noun, verbs]) =>
      Object.entries(verbs).map(([verb, form]) => ({ noun, verb, ...form })),
    )
    .filter(({ noun, verb, summary }) =>
      `${noun} ${verb} ${summary}`.toLowerCase().includes(find.toLowerCase()),
    )
  return (
    <Screen
      title="All calls"
      about="Every verb of the operator command. The other screens offer the usual ones."
      filters={[{ name: 'find', label: 'Find', placeholder: 'Noun, verb or effect' }]}
    >
      <Panel>
        <Table
          label="Calls"
          columns={columns}
          rows={calls}
          keyOf={({ noun, verb }) => `${noun} ${verb}`}
        >
          <NoMatch row="call" />
        </Table>
      </Panel>
    </Screen>
  )
}
