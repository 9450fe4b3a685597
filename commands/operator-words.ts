import { nouns } from '../shared/operator/catalogue.ts'
import { positionalOf, type Verb } from '../shared/operator/verbs.ts'
import { misuse } from './terminal/arguments.ts'

/** The words after `debit`: noun, verb and options. */

export const shortForms: Record<string, [noun: string, verb: string]> = {
  reconcile: ['reconciliation', 'run'],
  ledger: ['ledger', 'show'],
}

/** `reconcile` compares a bank's statement if one of these options is given. */
const isStatementOption = (word: string): boolean => /^--(?:bank|statement)(?:=|$)/.test(word)

/** Replaces a short form by its noun and verb. */
export const inFull = ([first = '', ...others]: readonly string[]): string[] => {
  if (first === 'reconcile' && others.some(isStatementOption)) {
    return ['reconciliation', 'statement', ...others]
  }
  if (first === 'ledger' && others.some((word) => /^--account(?:=|$)/.test(word))) {
    return ['ledger', 'account', ...others]
  }
  // A short form may also be a noun; a verb after it decides.
  const isNoun = others[0] !== undefined && Object.hasOwn(nouns[first]?.verbs ?? {}, others[0])
  const shortForm = Object.hasOwn(shortForms, first) && !isNoun ? shortForms[first] : undefined
  return [...(shortForm ?? [first]), ...others]
}

/**
 * Parses options as `--option value` or `--option=value`; rejects repeated ones.
 * The first required option of the verb needs no name, or else one that is marked.
 */
export const readOptions = (words: readonly string[], verb: Verb): Record<string, string> => {
  const positional = positionalOf(verb)
  const options: Record<string, string> = {}
  const remaining = [...words]
  while (remaining.length > 0) {
    const word = remaining.shift() ?? ''
    const [, name, attached] = /^--([a-z][a-z-]*)(?:=(.*))?$/s.exec(word) ?? []
    if (!name && (!positional || word.startsWith('-') || Object.hasOwn(options, positional))) {
      return misuse(`expected --option value at: ${word}`)
    }
    const option = name ?? (positional as string)
    if (Object.hasOwn(options, option)) return misuse(`--${option}: is given twice`)
    const value = name ? (attached ?? nextValue(name, remaining)) : word
    if (value === undefined) return misuse(`--${option}: has no value`)
    if (option === 'watch' && attached !== undefined) return misuse('--watch: takes no value')
    options[option] = value
  }
  return options
}

const nextValue = (name: string, remaining: string[]): string | undefined => {
  if (name === 'watch') return 'true'
  return remaining[0]?.startsWith('--') ? undefined : remaining.shift()
}
