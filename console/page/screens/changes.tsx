import type { ChangeResult } from '../../../shared/views/operator/change.ts'
import { listScreen } from '../parts/list.tsx'
import type { Column } from '../parts/table.tsx'
import { Link, Time } from '../parts/values.tsx'

const Target = ({ target }: { target: string }) =>
  /^\w+-\d{8}-\w{6}$/.test(target) ? <Link id={target} /> : <span class="break">{target}</span>

const textOf = (value: unknown): string => {
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const FIELDS_MAX = 4

const Changed = ({ changed }: Pick<ChangeResult, 'changed'>) => {
  const count = Object.keys(changed).length
  if (count <= FIELDS_MAX) return <Fields changed={changed} />
  return (
    <details>
      <summary>{count} fields</summary>
      <Fields changed={changed} />
    </details>
  )
}

const Fields = ({ changed }: Pick<ChangeResult, 'changed'>) => (
  <ul class="break">
    {Object.entries(changed).map(([name, { from, to }]) => (
      <li key={name}>
        <span class="muted">{name.replaceAll('_', ' ')}:</span>{' '}
        {from !== null && `${textOf(from)} → `}
        {textOf(to)}
      </li>
    ))}
  </ul>
)

const columns: Column<ChangeResult>[] = [
  { title: 'Time', cell: ({ at }) => <Time at={at} /> },
  {
    title: 'Operator',
    cell: ({ by, approved_by }) => (
      <>
        <span class="mono">{by}</span>
        {approved_by && (
          <small class="block">
            approved by <span class="mono">{approved_by}</span>
          </small>
        )}
      </>
    ),
  },
  { title: 'Call', cell: ({ noun, verb }) => `${noun} ${verb}` },
  { title: 'Object', cell: ({ target }) => <Target target={target} /> },
  { title: 'Changes', cell: ({ changed }) => <Changed changed={changed} />, isWide: true },
]

/** The record of changes by operators. */
export const ChangesScreen = listScreen({
  title: 'Operator changes',
  about: () => 'Each change by an operator, newest first. Secrets show as set or changed.',
  label: 'Changes',
  noun: 'change',
  entities: ['change'],
  columns,
  keyOf: ({ at, noun, verb, target }) => `${at} ${noun} ${verb} ${target}`,
  empty: [
    'No changes by operators yet',
    'A call of the operator command or of this console appears here.',
  ],
})
