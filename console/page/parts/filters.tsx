import type { TargetedEvent } from 'preact'
import { useId } from 'preact/hooks'
import type { FormField } from '../../server/backend.ts'
import { type Choices, labelOf } from '../catalogue-fields.ts'
import { mayUse, operate, serviceNow } from '../client.ts'
import { place, setFilters } from '../route.ts'
import { useCall } from '../use-operator.ts'

/** Controls that store their value in the address. */

export const Options = ({ of, selected }: { of: Choices; selected?: string }) =>
  of.map((choice) => {
    const [value, label] = typeof choice === 'string' ? [choice, choice] : choice
    return (
      <option key={value} value={value} selected={selected === value}>
        {label}
      </option>
    )
  })

const objects = {
  provider: async () => (await operate('provider', 'list', {})).map(({ id }) => id),
  bank: async () =>
    (await operate('bank', 'list', {})).map(({ identifier, name }) => [identifier, name] as const),
} satisfies Record<string, () => Promise<Choices>>

type ObjectKind = keyof typeof objects

/** Loads the objects of a kind as choices. */
export const useObjects = (kind: ObjectKind | undefined): Choices | undefined =>
  useCall<Choices>(['objects', kind], kind && mayUse(kind) ? objects[kind] : undefined).data

export type FilterProps = {
  name: string
  /** By default the name. */
  label?: string
  /** Before they are loaded, the value in the address is the only choice. */
  choices?: Choices
  /** The choices are the objects that exist. */
  object?: ObjectKind
  /** The choice without a value in the address; by default all. */
  initial?: string
  /** By default a choice. */
  type?: FormField['type'] | 'search'
  placeholder?: string
}

/** How many rows a page has. */
export const limitFilter: FilterProps = {
  name: 'limit',
  label: 'Page of',
  choices: ['100', '500', '1000'],
  initial: '100',
}

const Filter = ({ name, label, choices, object, initial = '', type, ...text }: FilterProps) => {
  const loaded = useObjects(object)?.map((choice) =>
    typeof choice === 'string' ? choice : choice[0],
  )
  const chosen = place.value.filters[name]
  const value = chosen ?? initial
  const set = ({ currentTarget }: TargetedEvent<HTMLInputElement | HTMLSelectElement>): void =>
    setFilters({ [name]: currentTarget.value || undefined })
  const id = useId()
  const typed = { type, ...text } as object
  return (
    <div class="field">
      <label htmlFor={id}>{label ?? labelOf(name)}</label>
      {type === 'date' || type === 'search' ? (
        <input id={id} {...typed} value={value} onInput={set} />
      ) : (
        <select id={id} value={value} onChange={set}>
          {!initial && <option value="">All</option>}
          <Options of={choices ?? loaded ?? (chosen ? [chosen] : [])} selected={value} />
        </select>
      )}
    </div>
  )
}

export const Filters = ({ of }: { of: readonly FilterProps[] }) =>
  of.length > 0 && (
    <div class="filters">
      {of.map((filter) => (
        <Filter key={filter.name} {...filter} />
      ))}
    </div>
  )

/** Returns the filters that have a value in the address. */
export const chosen = <K extends string>(...names: readonly K[]): { [Name in K]?: string } => {
  const { filters } = place.value
  return Object.fromEntries(
    names.filter((name) => filters[name]).map((name) => [name, filters[name]]),
  ) as { [Name in K]?: string }
}

const DAY_MS = 86_400_000

/** Returns a UTC day by the service's clock, `YYYY-MM-DD`. */
export const serviceDay = (daysAhead = 0): string =>
  new Date(serviceNow() + daysAhead * DAY_MS).toISOString().slice(0, 10)

/** The filter of a screen that shows one day, and the day in the address, by default today. */
export const dayFilter = (daysAhead = 0): FilterProps => ({
  name: 'date',
  label: 'Day',
  type: 'date',
  initial: serviceDay(daysAhead),
})
export const chosenDay = (daysAhead = 0): string =>
  place.value.filters.date ?? serviceDay(daysAhead)
