import { serviceNow } from '../client.ts'
import { place, setFilters } from '../route.ts'

/** Controls that store their value in the address. */

type FilterProps = {
  name: string
  label: string
  options: readonly (string | readonly [value: string, label: string])[]
}

export const Filter = ({ name, label, options }: FilterProps) => (
  <label>
    {label}
    <select
      value={place.value.filters[name] ?? ''}
      onChange={(event) => setFilters({ [name]: event.currentTarget.value || undefined })}
    >
      <option value="">All</option>
      {options.map((option) => {
        const [value, text] = typeof option === 'string' ? [option, option] : option
        return (
          <option key={value} value={value}>
            {text}
          </option>
        )
      })}
    </select>
  </label>
)

const DAY_MS = 86_400_000

/** Returns a UTC day by the service's clock, `YYYY-MM-DD`. */
export const serviceDay = (daysAhead = 0): string =>
  new Date(serviceNow() + daysAhead * DAY_MS).toISOString().slice(0, 10)

/** The day in the address, by default today. */
export const chosenDay = (): string => place.value.filters.date ?? serviceDay()

export const DayFilter = ({ label = 'Day' }: { label?: string }) => (
  <label>
    {label}
    <input
      type="date"
      value={chosenDay()}
      onChange={({ currentTarget: { value } }) => value && setFilters({ date: value })}
    />
  </label>
)
