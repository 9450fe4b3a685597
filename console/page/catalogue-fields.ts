import type { FormField, VerbForm } from '../server/backend.ts'
import { settings } from './client.ts'
import { settingOf } from './settings-of.ts'

/** Values with their labels; a value alone is its label. */
export type Choices = readonly (string | readonly [value: string, label: string])[]

/** A field of a form: an option of the catalogue with its value, or one of the page. */
export type Field = Pick<FormField, 'name'> &
  Partial<Omit<FormField, 'choices'>> & {
    /** By default the name. */
    label?: string
    value?: string | undefined
    choices?: Choices
  }

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
    .map((field) => {
      const now = settingOf(current, field.name)
      const meaning = sentence(field.meaning)
      return {
        ...field,
        value: values[field.name],
        meaning: now === undefined ? meaning : `Now ${now}. ${meaning}`,
      }
    })
