import { serviceNow } from '../client.ts'
import { place, setFilters } from '../route.ts'
import { useOperator } from '../use-operator.ts'

/** Controls that store their value in the address. */

/** Values with their labels; a value alone is its label. */
export type Choices = readonly (string | readonly [value: string, label: string])[]

export const Options = ({ of, selected }: { of: Choices; selected?: string }) =>
  of.map((choice) => {
    const [value, label] = typeof choice === 'string' ? [choice, choice] : choice
    return (
      <option key={value} value={value} selected={selected === value}>
        {label}
      </option>
    )
  })

export type FilterProps = {
  name: string
  label: string
  /** Before they are loaded, the value in the address is the only option. */
  options?: Choices | undefined
  /** The options are the objects that exist. */
  object?: 'provider' | 'bank' | undefined
  /** The option without a value in the address; by default all. */
  initial?: string
  /** Of a filter that is text. */
  placeholder?: string
  type?: 'date' | undefined
}

/** How many rows a page has. */
export const limitFilter: FilterProps = {
  name: 'limit',
  label: 'Page of',
  options: ['100', '500', '1000'],
  initial: '100',
}

const ProviderFilter = (filter: FilterProps) => <Filter {...filter} options={useProviders()} />
const BankFilter = (filter: FilterProps) => (
  <Filter {...filter} options={useBanks()?.map(([identifier]) => identifier)} />
)
const filterKinds = { provider: ProviderFilter, bank: BankFilter } as const

const Filter = ({ name, label, options, initial = '', placeholder, type }: FilterProps) => {
  const chosen = place.value.filters[name]
  const set = (value: string): void => setFilters({ [name]: value || undefined })
  const value = chosen ?? initial
  if (type) {
    return (
      <label>
        {label}
        <input type={type} value={value} onChange={(event) => set(event.currentTarget.value)} />
      </label>
    )
  }
  if (placeholder) {
    return (
      <label>
        {label}
        <input
          type="search"
          value={value}
          placeholder={placeholder}
          onInput={(event) => set(event.currentTarget.value)}
        />
      </label>
    )
  }
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {!initial && <option value="">All</option>}
        <Options of={options ?? (chosen ? [chosen] : [])} selected={value} />
      </select>
    </label>
  )
}

export const Filters = ({ of }: { of: readonly FilterProps[] }) =>
  of.length > 0 && (
    <div class="filters">
      {of.map((filter) => {
        const Kind = filter.object ? filterKinds[filter.object] : Filter
        return <Kind key={filter.name} {...filter} />
      })}
    </div>
  )

/** Returns the filters that have a value in the address. */
export const chosen = <K extends string>(...names: readonly K[]): { [Name in K]?: string } => {
  const set = names.flatMap((name) => {
    const value = place.value.filters[name]
    return value ? [[name, value]] : []
  })
  return Object.fromEntries(set)
}

/** Loads the identifiers of the providers. */
export const useProviders = (): string[] | undefined =>
  useOperator('provider', 'list', {}).data?.map(({ id }) => id)

/** Loads the identifiers and names of the banks. */
export const useBanks = () =>
  useOperator('bank', 'list', {}).data?.map(({ identifier, name }) => [identifier, name] as const)

const DAY_MS = 86_400_000

/** Returns a UTC day by the service's clock, `YYYY-MM-DD`. */
export const serviceDay = (daysAhead = 0): string =>
  new Date(serviceNow() + daysAhead * DAY_MS).toISOString().slice(0, 10)

/** The day in the address, by default today. */
export const chosenDay = (): string => place.value.filters.date ?? serviceDay()

export const DayFilter = ({ day = chosenDay() }: { day?: string }) => (
  <div class="filters">
    <label>
      Day
      <input
        type="date"
        value={day}
        onChange={({ currentTarget: { value } }) => value && setFilters({ date: value })}
      />
    </label>
  </div>
)
