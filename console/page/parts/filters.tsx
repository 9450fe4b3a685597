import type { TargetedEvent } from 'preact'
import { type Field, labelOf } from '../catalogue-fields.ts'
import { serviceNow } from '../client.ts'
import { place, setFilters } from '../route.ts'
import { Control, useObjects } from './field.tsx'

/** Controls that store their value in the address. */

export type FilterProps = Pick<Field, 'name' | 'label' | 'choices' | 'object' | 'placeholder'> & {
  /** The choice without a value in the address; by default all. */
  initial?: string
  /** By default a choice. */
  type?: Field['type'] | 'search'
}

/** How many rows a page has. */
export const limitFilter: FilterProps = {
  name: 'limit',
  label: 'Page of',
  choices: ['100', '500', '1000'],
  initial: '100',
}

const Filter = ({ name, label, choices, object, initial = '', type, ...text }: FilterProps) => {
  const loaded = useObjects(object)
  const chosen = place.value.filters[name]
  const value = chosen ?? initial
  const onInput = ({ currentTarget }: TargetedEvent<HTMLInputElement | HTMLSelectElement>): void =>
    setFilters({ [name]: currentTarget.value || undefined })
  const control = { label: label ?? labelOf(name), value, onInput }
  if (type === 'date' || type === 'search') return <Control {...control} {...{ type, ...text }} />
  // Before the objects are loaded, the value in the address is the only choice.
  const ids = loaded?.map((choice) => (typeof choice === 'string' ? choice : choice[0]))
  const shown = choices ?? ids ?? (chosen ? [chosen] : [])
  return (
    <Control {...control} choices={shown} selected={value} none={initial ? undefined : 'All'} />
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
