import type { ChangeResult } from '../../../shared/views/operator/change.ts'
import { Filter } from '../parts/filters.tsx'
import { Panel, Screen } from '../parts/screen.tsx'
import { Data, Empty } from '../parts/states.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/values.tsx'
import { linkTo, place } from '../route.ts'
import { useOperator } from '../use-operator.ts'

const Target = ({ target }: { target: string }) => {
  if (/^\w+-\d{8}-\w{6}$/.test(target)) {
    const screen = target.startsWith('STL-') ? 'batch' : 'debit'
    return (
      <a class="nowrap" href={linkTo(screen, target)}>
        {target}
      </a>
    )
  }
  return <span class="break">{target}</span>
}

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
export const ChangesScreen = () => {
  const { provider, bank } = place.value.filters
  const owner = provider ? { provider } : { ...(bank && { bank }) }
  const options = { ...owner, limit: '100' }
  const changes = useOperator('change', 'list', options, { entities: ['change'] })
  const providers = useOperator('provider', 'list', {})
  const banks = useOperator('bank', 'list', {})
  const isFiltered = Boolean(provider || bank)
  return (
    <Screen
      title="Operator changes"
      about="Each change by an operator, newest first. Secrets show as set or changed."
    >
      <div class="filters">
        <Filter
          name="provider"
          label="Provider"
          options={providers.data?.map(({ id }) => id) ?? (provider ? [provider] : [])}
        />
        {!provider && (
          <Filter
            name="bank"
            label="Bank"
            options={banks.data?.map(({ identifier }) => identifier) ?? (bank ? [bank] : [])}
          />
        )}
      </div>
      <Panel>
        <Data of={changes}>
          {(rows) =>
            rows.length > 0 ? (
              <Table
                label="Changes"
                columns={columns}
                rows={rows}
                keyOf={({ at, noun, verb, target }) => `${at} ${noun} ${verb} ${target}`}
              />
            ) : (
              <Empty
                title={
                  isFiltered ? 'No change matches these filters' : 'No changes by operators yet'
                }
              >
                {isFiltered
                  ? 'Clear a filter to see more.'
                  : 'A call of the operator command or of this console appears here.'}
              </Empty>
            )
          }
        </Data>
      </Panel>
    </Screen>
  )
}
