import type { ComponentProps, TargetedEvent } from 'preact'
import { useId } from 'preact/hooks'
import { type Choices, type Field, labelOf } from '../catalogue-fields.ts'
import { type CallOptions, mayUse, operate } from '../client.ts'
import { useLoaded } from '../use-operator.ts'

/** Labelled controls, in forms and filters. */

const objects = {
  provider: async () => (await operate('provider', 'list', {})).map(({ id }) => id),
  bank: async () =>
    (await operate('bank', 'list', {})).map(({ identifier, name }) => [identifier, name] as const),
} satisfies Record<string, () => Promise<Choices>>

type ObjectKind = keyof typeof objects

/** Loads the objects of a kind as choices. */
export const useObjects = (kind: ObjectKind | undefined): Choices | undefined => {
  const load = kind && mayUse(kind) ? objects[kind] : undefined
  return useLoaded<Choices>(['objects', kind], load, { isKept: true }).data
}

type ControlProps = {
  label: string
  type?: Field['type'] | 'search'
  choices?: Choices | undefined
  selected?: string | undefined
  /** The choice without a value, if there is one. */
  none?: string | undefined
  hint?: string | undefined
  onInput?: (event: TargetedEvent<HTMLInputElement | HTMLSelectElement>) => void
} & Pick<ComponentProps<'input'>, 'name' | 'required' | 'value' | 'placeholder' | 'accept'>

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
              <option key={value} value={value} selected={selected === value}>
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
  const { placeholder = '', isRequired = true } = field
  const loaded = useObjects(object)
  const choices = field.choices ?? (object && (loaded ?? []))
  // Each type has its own attributes, of which only that of a text is used.
  const typed = { type, ...(type === 'text' && { placeholder }), autocomplete: 'off' }
  return (
    <Control
      label={isRequired ? label : `${label} (optional)`}
      hint={meaning}
      {...{ name, required: isRequired, choices, selected: value }}
      {...(choices ? { none: isRequired ? undefined : '' } : { ...typed, defaultValue: value })}
    />
  )
}

/** The service knows the encoding of a bank's files: each byte is a character. Other files are UTF-8. */
const textOfFile = async (name: string, file: File): Promise<string> => {
  if (name !== 'statement') return file.text()
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
  (take: (values: CallOptions, readContents: () => Promise<CallOptions>) => void) =>
  (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = event.currentTarget
    const values = valuesOf(form)
    take(values, async () => {
      for (const [name, value] of new FormData(form)) {
        if (typeof value !== 'string' && value.name) values[name] = await textOfFile(name, value)
      }
      return values
    })
  }
