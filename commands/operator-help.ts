import { nouns } from '../shared/operator/catalogue.ts'
import { approvalText, type Noun, optionTexts, type Verb } from '../shared/operator/verbs.ts'
import { commandLine } from './terminal/arguments.ts'

/** The command as its caller typed it. */
export const COMMAND = commandLine('operator').replace(/ operator$/, '')

const TARGET = '[--port N | --stage NAME] [--output table|json]'

/** Reports whether a verb changes nothing, so that --watch can repeat it. */
export const isWatchable = (verb: string): boolean => /^(?:list|show|report)$/.test(verb)

const table = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('')
}

const targets = table([
  ['--port N', 'port of a sandbox on this machine (default 3000)'],
  ['--stage NAME', 'stage on AWS, with the credentials and region of the AWS SDK'],
  ['--output FORM', 'table or json (default: a table on a terminal, else JSON)'],
  ['--watch', 'repeats list, show or report every two seconds and prints changes'],
])

export const helpOfAll = (shortForms: Record<string, readonly [string, string]>): string =>
  `usage: ${COMMAND} NOUN VERB [--option value ...] ${TARGET} [--watch]\n\n${table([
    ...Object.entries(nouns).map(([name, { summary }]) => [name, summary] as const),
    ...Object.entries(shortForms).map(
      ([word, call]) => [word, `short for ${call.join(' ')}`] as const,
    ),
  ])}\n${targets}\nThe first required option needs no name: debit show DCS-20261121-ABC123.
--help after a noun or a verb prints its options.\n`

export const helpOfNoun = (name: string, { summary, verbs }: Noun): string =>
  `${name}: ${summary}\n\nusage: ${COMMAND} ${name} VERB [--option value ...] ${TARGET} [--watch]\n\n${table(
    Object.entries(verbs).map(([verb, { summary }]) => [verb, summary]),
  )}`

export const helpOfVerb = (noun: string, name: string, verb: Verb) => {
  const { summary } = verb
  const approval = approvalText(verb)
  const described = optionTexts(verb).map(({ name, value, ...rest }) => ({
    form: `--${name} ${value}`,
    ...rest,
  }))
  const required = described.filter(({ isRequired }) => isRequired).map(({ form }) => ` ${form}`)
  const rest = described.length > required.length ? ' [--option value ...]' : ''
  const rows = described.map(
    ({ form, meaning, isRequired }) =>
      [form, `${isRequired ? '(required) ' : ''}${meaning}`] as const,
  )
  return `${noun} ${name}: ${summary}\n\nusage: ${COMMAND} ${noun} ${name}${required.join('')}${rest} ${TARGET}${isWatchable(name) ? ' [--watch]' : ''}\n${
    rows.length > 0 ? `\n${table(rows)}` : ''
  }${approval ? `\nOn a stage with approvals, a second operator must approve it ${approval}.\n` : ''}`
}
