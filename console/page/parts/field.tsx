import { useId } from 'preact/hooks'
import type { FormField } from '../../server/backend.ts'
import type { CallOptions } from '../client.ts'
import { type Choices, type ObjectKind, Options, useObjects } from './filters.tsx'

export type Field = {
  name: string
  label: string
  /** The meaning, below the input. */
  hint?: string | undefined
  value?: string | undefined
  /** Without choices or objects the field is text. */
  options?: Choices | undefined
  object?: ObjectKind | undefined
  type?: FormField['type'] | undefined
  placeholder?: string | undefined
  isOptional?: boolean | undefined
}

export const Input = ({ field }: { field: Field }) => {
  const { name, label, hint, value = '', object, type = 'text', isOptional } = field
  const id = useId()
  const loaded = useObjects(object)
  const options = field.options ?? (object && (loaded ?? []))
  // Each type has its own attributes, of which none is used.
  const typed = { type } as { type: 'text' }
  const input = { id, name, required: !isOptional, 'aria-describedby': `${id}-hint` }
  return (
    <div class="field">
      <label htmlFor={id}>{isOptional ? `${label} (optional)` : label}</label>
      {options ? (
        <select {...input}>
          {isOptional && <option value="" />}
          <Options of={options} selected={value} />
        </select>
      ) : (
        <input
          {...input}
          {...typed}
          autocomplete="off"
          placeholder={field.placeholder ?? ''}
          defaultValue={value}
        />
      )}
      <small id={`${id}-hint`}>{hint}</small>
    </div>
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

/** Returns the filled fields of a form with the contents of its files. */
export const contentsOf = async (form: HTMLFormElement): Promise<CallOptions> => {
  const values = valuesOf(form)
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== 'string' && value.name) values[name] = await textOfFile(name, value)
  }
  return values
}
