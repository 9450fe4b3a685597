import { useId } from 'preact/hooks'
import type { FormField } from '../../server/backend.ts'
import type { CallOptions } from '../client.ts'
import { type Choices, Options, useBanks, useProviders } from './filters.tsx'

export type Field = {
  name: string
  label: string
  /** The meaning, below the input. */
  hint?: string | undefined
  value?: string | undefined
  /** Without choices or objects the field is text. */
  options?: Choices | undefined
  object?: 'provider' | 'bank' | undefined
  type?: FormField['type'] | undefined
  placeholder?: string | undefined
  isOptional?: boolean | undefined
}

type InputProps = { id: string; name: string; required: boolean }
type ChooserProps = { field: Field; input: InputProps }

const Chooser = ({ field: { options = [], value = '', isOptional }, input }: ChooserProps) => (
  <select {...input}>
    {isOptional && !options.some((choice) => choice[0] === '') && <option value="" />}
    <Options of={options} selected={value} />
  </select>
)

const ProviderChooser = ({ field, input }: ChooserProps) => (
  <Chooser field={{ ...field, options: useProviders() ?? [] }} input={input} />
)

const BankChooser = ({ field, input }: ChooserProps) => (
  <Chooser field={{ ...field, options: useBanks() ?? [] }} input={input} />
)

export const Input = ({ field }: { field: Field }) => {
  const { name, label, hint, value = '', options, object, type = 'text', isOptional } = field
  const id = useId()
  // Each type has its own attributes, of which none is used.
  const typed = { type } as { type: 'text' }
  const input = { id, name, required: !isOptional }
  return (
    <div class="field">
      <label htmlFor={id}>{isOptional ? `${label} (optional)` : label}</label>
      {object === 'provider' ? (
        <ProviderChooser field={field} input={input} />
      ) : object === 'bank' ? (
        <BankChooser field={field} input={input} />
      ) : options ? (
        <Chooser field={field} input={input} />
      ) : (
        <input
          {...input}
          aria-describedby={`${id}-hint`}
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
