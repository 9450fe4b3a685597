import type { VerbForm } from '../server/backend.ts'
import { settings } from './client.ts'
import type { Field } from './parts/field.tsx'
import { settingOf } from './settings-of.ts'

type FormContent = {
  /** The options that the call has anyway. */
  preset: Record<string, string | undefined>
  /** The options that the form has; by default all. */
  only?: readonly string[] | undefined
  values?: Record<string, string | undefined> | undefined
  /** The view of the object, whose settings the form changes. */
  current?: object | undefined
}

export const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`

export const labelOf = (option: string): string => sentence(option.replaceAll('-', ' '))

export const formOf = (noun: string, verb: string): VerbForm | undefined =>
  settings.value?.forms[noun]?.[verb]

/** Returns the fields of a verb. An empty one leaves its setting unchanged. */
export const catalogueFields = (
  form: VerbForm | undefined,
  { preset, only, values = {}, current }: FormContent,
): Field[] =>
  (form?.fields ?? [])
    .filter(({ name }) => preset[name] === undefined && (!only || only.includes(name)))
    .map(({ name, meaning, isRequired, choices, placeholder, type, object }) => {
      const now = settingOf(current, name)
      return {
        name,
        label: labelOf(name),
        hint: now === undefined ? sentence(meaning) : `Now ${now}. ${sentence(meaning)}`,
        value: values[name],
        options: choices,
        object,
        type,
        placeholder: type === 'text' ? placeholder : undefined,
        isOptional: !isRequired,
      }
    })
