import { globSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { inFull, readOptions } from '../../commands/operator-words.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import {
  approvalText,
  explain,
  parseCall,
  personalOf,
  type Verb,
} from '../../shared/operator/verbs.ts'

/** The operator's calls in the docs, parsed as the command parses them. */

const GUIDES = ['operators', 'operations', 'deployment', 'restore'].map((name) => `docs/${name}.md`)

const read = (file: string): string => readFileSync(file, 'utf8').replaceAll(/\\\n\s*/g, '')

const wordsOf = (line: string): string[] =>
  (line.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll('"', ''))

const firstGroups = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group = '']) => group)

/** Returns the words of the calls in code blocks, and of those with options in text. */
const callsIn = (page: string): string[][] => {
  const blocks = firstGroups(page, /^ *```sh$(.*?)^ *```$/gms).join('\n')
  const command = /^ *(?:npm run -s )?operator (?:-- )?([a-z][^#<>|\n]*)/gm
  const named = firstGroups(page, /`(?:operator )?((?!operator)[a-z-]+(?: [a-z-]+)? --[^`|]*)`/g)
  const isCall = (line: string) => Object.hasOwn(nouns, inFull(wordsOf(line))[0] ?? '')
  return [...firstGroups(blocks, command), ...named.filter(isCall)]
    .filter((line) => !/ --help *$/.test(line))
    .map((line) => wordsOf(line.replaceAll(/\$\([^)]*\)/g, 'VALUE')))
}

/** Returns the calls that a sentence or a table names, such as `debit complete\|fail`. */
const namedIn = (page: string): string[][] =>
  [...page.matchAll(/`(?:operator )?([a-z-]+) ([a-z-]+(?:\\\|[a-z-]+)*)`/g)].flatMap(
    ([, noun = '', verbs = '']) => verbs.split('\\|').map((verb) => [noun, verb]),
  )

const calls = globSync('docs/*.md').flatMap((file) =>
  callsIn(read(file)).map((words) => [file, words] as const),
)

/** `ID`, `$BATCH`, `FILE.csv` and `-` stand for values, and text omits options. */
const isOpen = (value = 'OMITTED'): boolean => /^(?:\$?[A-Z]+(?:\.csv)?|-)$/.test(value)

/** @throws with the line that the command prints */
const parse = (words: readonly string[]): void => {
  const [noun = '', verb = '', ...optionWords] = inFull(words)
  const [nounRow, verbRow] = [nouns[noun], nouns[noun]?.verbs[verb]]
  if (!nounRow || !verbRow) throw new Error('unknown')
  const {
    stage: _,
    port: __,
    output: ___,
    watch: ____,
    ...options
  } = readOptions(optionWords, verbRow)
  const call = parseCall(nounRow, { verb, options })
  if (!(call instanceof Refusal)) return
  const wrong = Object.entries(call.details ?? {}).filter(
    ([option]) => !(option in verbRow.options.entries) || !isOpen(options[option]),
  )
  if (wrong.length > 0) throw new Error(explain(call))
}

test('each call in the docs has a known verb and valid options', () => {
  vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
    throw new Error(String(line).trimEnd())
  })
  expect(calls.length).toBeGreaterThan(90)
  const wrong = calls.flatMap(([file, words]) => {
    try {
      parse(words)
      return []
    } catch (error) {
      return `${file}: ${words.join(' ')}: ${(error as Error).message}`
    }
  })
  vi.restoreAllMocks()
  expect(wrong).toEqual([])
})

test('each verb is in a guide', () => {
  const named = GUIDES.map(read).flatMap((page) => [...callsIn(page).map(inFull), ...namedIn(page)])
  const inGuides = new Set(named.map(([noun, verb]) => `${noun} ${verb}`))
  const verbs = Object.entries(nouns).flatMap(([noun, row]) =>
    Object.keys(row.verbs).map((verb) => `${noun} ${verb}`),
  )
  expect(verbs.filter((verb) => !inGuides.has(verb))).toEqual([])
})

/** The verbs of a noun that move money share a row if they need an approval in the same cases. */
const approvalRows = Object.entries(nouns).flatMap(([noun, row]) => {
  const money = Object.entries<Verb>(row.verbs).filter(([, { effect }]) => effect === 'money')
  return [...Map.groupBy(money, ([, verb]) => approvalText(verb))].map(
    ([text, verbs]) => `| \`${noun} ${verbs.map(([name]) => name).join('\\|')}\` | ${text} |`,
  )
})

test('the table of approvals has each verb that moves money, and when it needs an approval', () => {
  const [, table = ''] = read('docs/operations.md').split(
    '| Call | Needs an approval |\n|---|---|\n',
  )
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(approvalRows)
})

test('an option with a text about a customer is personal, and its verb has a phone number', () => {
  for (const [noun, row] of Object.entries(nouns)) {
    for (const [name, verb] of Object.entries<Verb>(row.verbs)) {
      const options = Object.keys(verb.options.entries)
      const about = options.filter((option) => /^(?:phone|account-number)$/.test(option))
      expect(personalOf(verb), `${noun} ${name}`).toEqual(expect.arrayContaining(about))
      if (personalOf(verb).length > 0) expect(options, `${noun} ${name}`).toContain('phone')
    }
  }
})
