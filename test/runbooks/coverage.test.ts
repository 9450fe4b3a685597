import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isRehearsed, notRehearsed, withoutCommands } from './not-rehearsed.ts'
import { blocksOf, operatorWords, PAGES, sectionsOf } from './page.ts'

/** Every command of the pages for operators and engineers runs in a test of its section. */

const sections = PAGES.flatMap(sectionsOf)

const sources = globSync('test/runbooks/*.{test,proof}.ts').map((file) =>
  readFileSync(file, 'utf8'),
)
const anchorsIn = (call: RegExp): string[] =>
  sources.flatMap((source) => [...source.matchAll(call)].map(([, anchor = '']) => anchor))

const runbooks = anchorsIn(/runbook\('([^']+)'\)/g)
const shells = anchorsIn(/shellOf\('([^']+)'\)/g)

test('each section with commands has one test, which runs them in order', () => {
  const rehearsed = sections.filter(({ commands }) => commands.some(isRehearsed))
  expect(rehearsed.length).toBeGreaterThan(25)
  const expected = rehearsed.filter(({ anchor, commands }) => {
    const ofShell = commands.filter((one) => isRehearsed(one) && !operatorWords(one))
    if (ofShell.length > 0) expect(shells).toContain(anchor)
    return !shells.includes(anchor) || runbooks.includes(anchor)
  })
  expect(runbooks.toSorted()).toEqual(expected.map(({ anchor }) => anchor).toSorted())
  const anchors = rehearsed.map(({ anchor }) => anchor)
  expect(shells.filter((anchor) => !anchors.includes(anchor))).toEqual([])
})

test('each row of the commands that no test runs is of a command of a page, and cites existing files', () => {
  const commands = sections.flatMap((section) => section.commands)
  const isOnPage = (start: string) => commands.some((command) => command.startsWith(start))
  expect(Object.keys(notRehearsed).filter((start) => !isOnPage(start))).toEqual([])
  const cited = [...Object.values(notRehearsed), ...Object.values(withoutCommands)].flatMap(
    (reason) => reason.match(/test\/[\w/.-]+/g) ?? [],
  )
  expect(cited.filter((file) => !existsSync(file))).toEqual([])
})

test('each code block with commands has the language sh', () => {
  const others = PAGES.flatMap(blocksOf).filter(({ language }) => language !== 'sh')
  expect(others.length).toBeGreaterThan(0)
  const command = /^ *(?:operator|npm|npx|aws|git) /m
  expect(others.filter(({ block }) => command.test(block))).toEqual([])
})

test('each operator command runs, and each other command without a test has a reason', () => {
  const calls = sections
    .flatMap(({ commands }) => commands)
    .filter((one) => /^operator [a-z]/.test(one))
  expect(calls.length).toBeGreaterThan(90)
  expect(calls.filter((call) => !isRehearsed(call))).toEqual(['operator debit --help'])
})

test('each runbook for an alarm has commands, or a test of its incident', () => {
  const anchors = sections.map(({ anchor }) => anchor)
  const [first, end] = ['when-an-alarm-rings', 'ledger-and-funding'].map((name) =>
    anchors.indexOf(`operations.md#${name}`),
  )
  const runbooks = sections.slice((first ?? 0) + 1, end)
  expect(runbooks.length).toBeGreaterThan(12)
  const without = runbooks.filter(({ commands }) => commands.length === 0)
  expect(without.map(({ anchor }) => anchor)).toEqual(Object.keys(withoutCommands))
})
