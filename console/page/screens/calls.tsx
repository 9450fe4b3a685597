import type { NounName } from '../../../shared/operator/results.ts'
import { mayUse, settings } from '../client.ts'
import { CatalogueCall } from '../parts/call.tsx'
import { findFilter } from '../parts/field.tsx'
import { noMatchOf } from '../parts/list.tsx'
import { Screen } from '../parts/screen.tsx'
import { TablePanel } from '../parts/table.tsx'
import { place } from '../route.ts'

export const CallsScreen = () => {
  const find = place.value.filters.find?.toLowerCase() ?? ''
  const calls = Object.entries(settings.value?.forms ?? {})
    .filter(([noun]) => mayUse(noun as NounName))
    .flatMap(([noun, verbs]) =>
      Object.entries(verbs).map(([verb, form]) => {
        return { name: `${noun} ${verb}`, noun, verb, ...form }
      }),
    )
    .filter(({ name, summary }) => `${name} ${summary}`.toLowerCase().includes(find))
  return (
    <Screen
      about="Every verb of the operator command. The other screens offer the usual ones."
      filters={[{ ...findFilter, placeholder: 'Noun, verb or effect' }]}
    >
      <TablePanel
        label="Calls"
        columns={{
          Call: ({ name }) => <strong>{name}</strong>,
          Effect: 'summary',
          Approval: { wide: ({ approval }) => <small>{approval}</small> },
          '': ({ noun, verb, effect }) => (
            <CatalogueCall
              label={effect === 'reads' ? 'Read' : 'Call'}
              of={[noun, verb]}
              isAsked
              showsResult
            />
          ),
        }}
        of={calls}
        empty={noMatchOf('call')}
      />
    </Screen>
  )
}
