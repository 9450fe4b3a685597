import type { ChangeResult } from '../../../shared/views/operator/change.ts'
import { listScreen } from '../parts/list.tsx'
import { By, Link, Noted, words } from '../parts/values.tsx'

const textOf = (value: unknown): string => {
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const FIELDS_MAX = 4

const Changed = ({ changed }: ChangeResult) => {
  const entries = Object.entries(changed)
  const fields = (
    <ul>
      {entries.map(([name, { from, to }]) => (
        <li key={name}>
          <span class="muted">{words(name)}:</span> {from !== null && `${textOf(from)} → `}
          {textOf(to)}
        </li>
      ))}
    </ul>
  )
  if (entries.length <= FIELDS_MAX) return fields
  return (
    <details>
      <summary>{entries.length} fields</summary>
      {fields}
    </details>
  )
}

export const ChangesScreen = listScreen({
  about: () => 'Each change by an operator, newest first. Secrets show as set or changed.',
  label: 'Changes',
  noun: 'change',
  entities: ['change'],
  columns: {
    Time: 'at',
    Operator: ({ by, approved_by }) => (
      <Noted of={<By label="" name={by} />}>
        {approved_by && <By label="approved by " name={approved_by} />}
      </Noted>
    ),
    Call: ({ noun, verb }) => `${noun} ${verb}`,
    Object: ({ target: id }) =>
      /^\w+-\d{8}-\w{6}$/.test(id) ? <Link id={id} /> : <span class="note">{id}</span>,
    Changes: { wide: Changed },
  },
  empty: [
    'No changes by operators yet',
    'A call of the operator command or of this console appears here.',
  ],
})
