import { useId } from 'preact/hooks'
import { type Field, labelOf } from '../catalogue-fields.ts'
import type { CallOptions } from '../client.ts'
import { Options, useObjects } from './filters.tsx'

export const Input = ({ field }: { field: Field }) => {
  const { name, label = labelOf(name), meaning, value = '', object, type = 'text' } = field
  const { placeholder = '', isRequired = true } = field
  const id = useId()
  const loaded = useObjects(object)
  const choices = field.choices ?? (object && (loaded ?? []))
  // Each type has its own attributes, of which only that of a text is used.
  const typed = { type, ...(type === 'text' && { placeholder }) } as { type: 'text' }
  const input = { id, name, required: isRequired, 'aria-describedby': `${id}-hint` }
  return (
    <div class="field">
      <label htmlFor={id}>{isRequired ? label : `${label} (optional)`}</label>
      {choices ? (
        <select {...input}>
          {!isRequired && <option value="" />}
          <Options of={choices} selected={value} />
        </select>
      ) : (
        <input {...input} {...typed} autocomplete="off" defaultValue={value} />
      )}
      <small id={`${id}-hint`}>{meaning}</small>
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
