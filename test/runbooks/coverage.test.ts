import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isRehearsed, notRehearsed } from './not-rehearsed.ts'
import { PAGES, sectionsOf, slugOf } from './page.ts'

/** Every command of docs/operations.md and docs/operators.md runs in a test of its section. */

const sections = PAGES.flatMap(sectionsOf)

const rehearsed = globSync('test/runbooks/*.test.ts').flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/runbook\('([^']+)'\)/g)].map(
    ([, anchor = '']) => anchor,
  ),
)

/** The sections that a proof runs in a shell, with the AWS CLI of the sandbox. */
const proven = [
  ...readFileSync('test/commands/runbooks.proof.ts', 'utf8').matchAll(/commandsBelow\('(.+?)'\)/g),
].map(([, heading = '']) => `operations.md#${slugOf(heading)}`)

test('each section with commands has one test, which runs them in order', () => {
  const expected = sections.filter(({ commands }) => commands.some(isRehearsed))
  expect(expected.length).toBeGreaterThan(25)
  expect([...rehearsed, ...proven].sort()).toEqual(expected.map(({ anchor }) => anchor).toSorted())
})

test('each row of the commands that no test runs is of a command of a page, and cites existing files', () => {
  const commands = sections.flatMap((section) => section.commands)
  const isOnPage = (start: string) => commands.some((command) => command.startsWith(start))
  expect(Object.keys(notRehearsed).filter((start) => !isOnPage(start))).toEqual([])
  const cited = Object.values(notRehearsed).flatMap(
    (reason) => reason.match(/test\/[\w/.-]+/g) ?? [],
  )
  expect(cited.filter((file) => !existsSync(file))).toEqual([])
})

test('each operator command runs, and each other command without a test has a reason', () => {
  const calls = sections
    .flatMap(({ commands }) => commands)
    .filter((one) => /^operator [a-z]/.test(one))
  expect(calls.length).toBeGreaterThan(90)
  expect(calls.filter((call) => !isRehearsed(call))).toEqual(['operator debit --help'])
})
