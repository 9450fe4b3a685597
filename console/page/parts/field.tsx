import type { ComponentProps, TargetedEvent } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Choices, type Field, labelOf } from '../catalogue-fields.ts'
import { type CallOptions, mayUse, operate, serviceNow } from '../client.ts'
import { place, setFilters } from '../route.ts'
import { useLoaded } from '../use-operator.ts'

/** Labelled controls, in forms and filters. */

const objects = {
  provider: async () => (await operate('provider', 'list', {})).map(({ id }) => id),
  bank: async () =>
    (await operate('bank', 'list', {})).map(({ identifier, name }) => [identifier, name] as const),
} satisfies Record<string, () => Promise<Choices>>

type ObjectKind = keyof typeof objects

/** Loads the objects of a kind as choices: empty while they load, undefined if the operator may not read them. */
export const useObjects = (kind: ObjectKind | undefined): Choices | undefined => {
  const load = kind && mayUse(kind) ? objects[kind] : undefined
  const { data = [] } = useLoaded<Choices>(['objects', kind], load, { isKept: true })
  return load && data
}

type ControlProps = {
  label: string
  type?: Field['type'] | 'search'
  choices?: Choices | undefined
  /** By default the value. */
  selected?: string | undefined
  /** The choice without a value, if there is one. */
  none?: string | undefined
  hint?: string | undefined
  onInput?: (event: TargetedEvent<HTMLInputElement | HTMLSelectElement>) => void
} & Pick<
  ComponentProps<'input'>,
  'name' | 'required' | 'value' | 'defaultValue' | 'placeholder' | 'accept' | 'min'
>

/** A selection if there are choices, else an input. */
export const Control = ({ label, choices, selected, none, hint, ...props }: ControlProps) => {
  const id = useId()
  const described = hint !== undefined && { 'aria-describedby': `${id}-hint` }
  const control = { id, ...described, ...props } as object
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {choices ? (
        <select {...control}>
          {none !== undefined && <option value="">{none}</option>}
          {choices.map((choice) => {
            const [value, text] = typeof choice === 'string' ? [choice, choice] : choice
            return (
              <option key={value} value={value} selected={(selected ?? props.value) === value}>
                {text}
              </option>
            )
          })}
        </select>
      ) : (
        <input {...control} />
      )}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  )
}

/** A field of a form. */
export const Input = ({ field }: { field: Field }) => {
  const { name, label = labelOf(name), meaning = '', value = '', object, type = 'text' } = field
  const { placeholder = '', isRequired = true, words = [] } = field
  const loaded = useObjects(object)
  const choices = field.choices ?? (loaded && [...loaded, ...words])
  // Each type has its own attributes, of which only that of a text is used.
  const typed = { type, ...(type === 'text' && { placeholder }), autocomplete: 'off' }
  // A required choice without a value begins empty, so that the operator makes it.
  const none = isRequired && value ? undefined : ''
  return (
    <Control
      label={isRequired ? label : `${label} (optional)`}
      hint={meaning}
      name={name}
      required={isRequired}
      choices={choices}
      selected={value}
      {...(choices ? { none } : { ...typed, defaultValue: value })}
    />
  )
}

/** Returns each byte of a file as a character: the server decodes the file or rejects it. */
const textOfFile = async (file: File): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

/** Returns the filled fields of a form, and the names of its files. */
export const valuesOf = (form: HTMLFormElement): CallOptions =>
  Object.fromEntries(
    [...new FormData(form)].flatMap(([name, value]) => {
      const text = typeof value === 'string' ? value.trim() : value.name
      return text === '' ? [] : [[name, text]]
    }),
  )

/** Returns a handler that takes the filled fields of a form, and reads them with the contents of files. */
export const onSubmit =
  (take: (values: CallOptions, readContents: () => Promise<CallOptions>) => unknown) =>
  (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = event.currentTarget
    const values = valuesOf(form)
    take(values, async () => {
      for (const [name, value] of new FormData(form)) {
        if (typeof value !== 'string' && value.name) values[name] = await textOfFile(value)
      }
      return values
    })
  }

/** A control that stores its value in the address. */
export type FilterProps = Pick<Field, 'name' | 'label' | 'choices' | 'object' | 'placeholder'> & {
  /** The choice without a value in the address; by default all. */
  initial?: string
  /** By default a choice. */
  type?: Field['type'] | 'search'
}

const TYPING_MS = 600
const FIRST_DAY = '2020-01-01'

type TypedFilterProps = Pick<ControlProps, 'label' | 'type'> & {
  value: string
  initial: string
  set: (entered: string) => void
}

/** A filter that calls the service only after a pause in typing. */
const TypedFilter = ({ value, initial, type, set, ...control }: TypedFilterProps) => {
  const isDate = type === 'date'
  const [draft, setDraft] = useState<string>()
  const sent = useRef<string>(undefined)
  useEffect(() => {
    // A link also changes the value, and ends the draft. After its own change, the operator can still be typing.
    if ((sent.current || initial) !== value) setDraft(undefined)
  }, [value])
  useEffect(() => {
    // A year that is typed in part is already a valid date, such as 0020-01-01.
    if (draft === undefined || (isDate && draft && draft < FIRST_DAY)) return undefined
    // The control must not return to the old value before the address has the new one.
    const isSet = (draft || initial) === value
    const timer = setTimeout(() => {
      if (isSet) return setDraft(undefined)
      sent.current = draft
      set(draft)
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [draft, value])
  return (
    <Control
      {...control}
      type={type}
      min={isDate ? FIRST_DAY : undefined}
      value={draft ?? value}
      onInput={({ currentTarget }) => setDraft(currentTarget.value)}
    />
  )
}

const Filter = ({ name, label, choices, object, initial = '', type, ...text }: FilterProps) => {
  const loaded = useObjects(object)
  const chosen = place.value.filters[name]
  const value = chosen ?? initial
  const set = (entered: string): void => setFilters({ [name]: entered || undefined })
  const control = { label: label ?? labelOf(name), value }
  // An operator who may not read the objects types an id.
  if (type === 'date' || (object && !loaded))
    return <TypedFilter {...{ ...control, initial, type, set }} />
  const onInput = ({ currentTarget }: TargetedEvent<HTMLInputElement | HTMLSelectElement>): void =>
    set(currentTarget.value)
  if (type === 'search') return <Control {...control} {...text} onInput={onInput} type={type} />
  // Before the objects are loaded, the value in the address is the only choice.
  const ids = loaded?.map((choice) => (typeof choice === 'string' ? choice : choice[0])) ?? []
  const shown = choices ?? (ids.length > 0 ? ids : chosen ? [chosen] : [])
  const none = initial ? undefined : 'All'
  return <Control {...control} onInput={onInput} choices={shown} none={none} />
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
export const chosen = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(place.value.filters).filter(([name, value]) => value && names.includes(name)),
  )

const DAY_MS = 86_400_000

/** Returns a UTC day by the service's clock, `YYYY-MM-DD`. */
export const serviceDay = (daysAhead = 0): string =>
  new Date(serviceNow() + daysAhead * DAY_MS).toISOString().slice(0, 10)

/** Returns the day that the address names, by default one from today, and its filter. */
export const chosenDay = (daysAhead = 0): readonly [date: string, filters: FilterProps[]] => {
  const initial = serviceDay(daysAhead)
  const filter = { name: 'date', label: 'Day', type: 'date', initial } as const
  return [place.value.filters.date ?? initial, [filter]]
}

/** The filter of a screen that searches its rows itself. */
export const findFilter = { name: 'find', type: 'search' } as const
