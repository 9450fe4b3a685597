import type { FormField, VerbForm } from '../server/backend.ts'
import { settings } from './client.ts'

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

export const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`

export const labelOf = (option: string): string => sentence(option.replaceAll('-', ' '))

export const formOf = (noun: string, verb: string): VerbForm | undefined =>
  settings.value?.forms[noun]?.[verb]
