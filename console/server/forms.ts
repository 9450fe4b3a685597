import { nouns } from '../../shared/operator/catalogue.ts'
import { approvalText, type Noun, optionTexts, type Verb } from '../../shared/operator/verbs.ts'
import type { FormField, VerbForm } from './backend.ts'

/** The forms of the verbs, from the catalogue of the operator command. */

/** Values of these names are chosen from the objects that exist. */
const OBJECTS: Record<string, 'provider' | 'bank'> = {
  provider: 'provider',
  bank: 'bank',
  'settlement-bank': 'bank',
}

const typeOf = (value: string): FormField['type'] => {
  if (value === '-') return 'password'
  if (value === 'YYYY-MM-DD') return 'date'
  if (value === 'YYYY-MM') return 'month'
  return value === 'FILE' ? 'file' : 'text'
}

/** Words are choices; a placeholder in capitals is text. */
const isWord = (word: string): boolean => /^[a-z0-9_-]+[a-z0-9]$/.test(word)

const fieldsOf = (name: string, verb: Verb): FormField[] =>
  optionTexts(verb)
    .filter(({ meaning }) => !meaning.includes('the command adds it'))
    .map(({ value, ...text }) => {
      const words = value.split('|')
      const object = name === 'create' ? undefined : OBJECTS[text.name]
      return {
        ...text,
        meaning: text.meaning.replace(', from standard input', ''),
        type: typeOf(value),
        placeholder: value,
        ...(words.every(isWord) && { choices: words }),
        ...(object && { object, words: words.filter(isWord) }),
      }
    })

/** By noun and verb. Uploads are parts of other calls. */
export const forms: Record<string, Record<string, VerbForm>> = Object.fromEntries(
  Object.values(nouns).map(({ name: noun, verbs: { ...verbs } }: Noun) => {
    delete verbs.upload
    const own = Object.entries(verbs).map(([name, verb]) => {
      const { summary, effect } = verb
      return [name, { summary, effect, approval: approvalText(verb), fields: fieldsOf(name, verb) }]
    })
    return [noun, Object.fromEntries(own)]
  }),
)
