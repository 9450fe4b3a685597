import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { helpOfVerb } from '../commands/operator-help.ts'
import { alarmRows } from '../infra/definitions/alarms.ts'
import { bankProtocol } from '../sdk/openapi/bank-protocol.ts'
import { openApi } from '../sdk/openapi/document.ts'
import { nouns } from '../shared/operator/catalogue.ts'

/** Prose is plain technical English (CONTRIBUTING.md, Prose): at most 2 of these per 1,000 words. */
const LIMIT = 2

const AVOIDED = [
  /\b(?:who|what|which|whom|where)ever\b/i,
  /\b(?:anew|once more|after all|of (?:its|their|his) own accord)\b/i,
  /\b(?:tell|tells|told|telling)\b/i,
  /\b(?:come|comes|came|coming) (?:to|of)\b/i,
  /\bheld (?:against|to)\b/i,
  /\b(?:is|are|was|were) no\b(?! (?:longer|more|later|earlier|less|greater|larger)\b)/i,
  /\b(?:nevertheless|meanwhile|alike|beside|lest|ought)\b/i,
  /\blook(?:s|ed|ing)? after\b/i,
  /\b(?:has|have|had) (?:it|them) (?:done|\w+ed)\b/i,
  /\bwhat is left\b/i,
  /\blived through\b/i,
  /\b(?:stand|stands|stood|standing) in\b/i,
  /\bas good as\b/i,
  /\b(?:given|taken|takes?) up\b/i,
  // A sentence begins with its subject.
  /(?:^|[.:;!?] )(?:What|That|Who|Whose|Of|Nobody)\b(?![^.]*\?)/,
]

const turnsIn = (where: string, passages: readonly string[]): string[] =>
  passages.flatMap((passage) =>
    AVOIDED.flatMap((pattern) => {
      const [turn] = passage.match(pattern) ?? []
      return turn ? [`${where}: ${turn}: ${passage.slice(0, 100)}`] : []
    }),
  )

const PYTHON_COMMENT = /"""([\s\S]*?)"""|(?:^|[ \t])# (.*(?:\n[ \t]*# .*)*)/gm

const COMMENT = /\/\*\*?([\s\S]*?)\*\/|(?:^|[ \t])\/\/ (.*(?:\n[ \t]*\/\/ .*)*)/gm

const commentsOf = (source: string, comment = COMMENT): string[] =>
  [...source.matchAll(comment)].map(([, block, lines]) =>
    (block ?? lines ?? '').replaceAll(/\n\s*(?:\*|\/\/|#)? ?/g, ' ').trim(),
  )

/** Returns paragraphs, list items and table cells, without code. */
const passagesOf = (page: string): string[] =>
  page
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/`[^`]*`/g, 'code')
    .split(/\n{2,}|\n(?=\s*(?:[-*#|]|\d+\.))|\|/)
    .map((passage) =>
      passage
        .replaceAll(/\s+/g, ' ')
        .replace(/^[-*# ]+|\d+\. /, '')
        .trim(),
    )

const descriptionsIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    /^(?:description|summary)$/.test(key) && typeof member === 'string'
      ? [member]
      : descriptionsIn(member),
  )
}

const files = (pattern: string): string[] =>
  globSync(pattern, { exclude: ['node_modules/**', 'dist/**', 'cdk.out/**'] }).sort()

const read = (file: string): string => readFileSync(file, 'utf8')

const sources = (folders: string) =>
  files(`${folders}/**/*.{ts,tsx}`).map((file) => [file, commentsOf(read(file))] as const)

const allAlarms = {
  ...{ hasSandboxBank: true, hasFirewall: true, payoutsWaitForFunding: true },
  backup: { keepDays: 35, lockDays: 7 },
}

const helpTexts = Object.entries(nouns).map(([name, noun]) => {
  const verbs = Object.entries(noun.verbs).map(([verb, row]) => helpOfVerb(name, verb, row))
  return [name, [noun.summary, ...verbs.flatMap((help) => help.split(/\n|: /))]] as const
})

/** The first words of a subject: a determiner, a number, code or a name. A describe is no subject. */
const SUBJECT = /^(?:(?:an?|the|each|every|no|any|all|both|most|only|one|two|three|\d+) |`|[A-Z])/

const TITLE =
  /(?:\btest\w*(?:\.\w+)?|\))\(\s*(['"`])((?:\\.|(?!\1).)+)\1,\s*(?:async |\(|\{|\w+ =>)/g

const titlesOf = (source: string): string[] =>
  [...source.matchAll(TITLE)].map(([, , title = '']) => title)

/** Both clients run the cases of sdk/cases, whose names are those of the tests. */
const caseNames = files('sdk/cases/*.json').map(
  (file) =>
    [file, [...read(file).matchAll(/"name": "(\w+ .+?)"/g)].map(([, name = '']) => name)] as const,
)

const testNames = [
  ...files('test/**/*.ts').map((file) => [file, titlesOf(read(file))] as const),
  ...caseNames,
]

const prose: Record<string, (readonly [string, readonly string[]])[]> = {
  'comments of the product': sources('{functions,shared}'),
  'comments of the tools': sources(
    '{infra,sandbox,commands,console,proofs,sdk/openapi,sdk/typescript/src,sdk/typescript/examples}',
  ),
  'comments of the tests': sources('test'),
  'names of the tests': testNames,
  'comments of the Python client': files('sdk/python/**/*.py').map((file) => [
    file,
    commentsOf(read(file), PYTHON_COMMENT),
  ]),
  pages: files('{*.md,docs/*.md,sdk/python/*.md}').map((file) => [file, passagesOf(read(file))]),
  'help texts': helpTexts,
  'alarm texts': alarmRows(allAlarms).map((row) => [row.name, [row.description]]),
  'the API description': [
    ['docs/openapi.json', descriptionsIn(openApi())],
    ['docs/bank-protocol.json', descriptionsIn(bankProtocol())],
  ],
}

test.each(Object.entries(prose))('the prose of %s is plain', (_, passages) => {
  const turns = passages.flatMap(([where, texts]) => turnsIn(where, texts))
  const words = passages.flatMap(([, texts]) => texts.join(' ').match(/[A-Za-z']+/g) ?? []).length
  expect(words).toBeGreaterThan(100)
  expect(turns.length * 1000 > words * LIMIT ? turns : []).toEqual([])
})

test('each test has a sentence with its own subject as its name', () => {
  expect(testNames.flatMap(([, names]) => names).length).toBeGreaterThan(1_000)
  const fragments = testNames.flatMap(([file, names]) =>
    names.filter((name) => !SUBJECT.test(name)).map((name) => `${file}: ${name}`),
  )
  expect(fragments).toEqual([])
})
