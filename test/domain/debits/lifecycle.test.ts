import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exceptionKind } from '../../../shared/domain/debits/exception.ts'
import {
  checkTransition,
  hasOwnList,
  isOpen,
  lifecycle,
  statuses,
} from '../../../shared/domain/debits/lifecycle.ts'
import { canHaveRefund } from '../../../shared/domain/debits/refund.ts'
import { rowsOf } from '../../support/rows.ts'

const pairs = statuses.flatMap((from) => statuses.map((to) => [from, to] as const))

test('every pair of statuses has its published result', () => {
  const rows = rowsOf(`
    from        pending    processing  completed  failed     reversed
    pending     unchanged  allowed     allowed    allowed    refused
    processing  refused    unchanged   allowed    allowed    refused
    completed   refused    refused     unchanged  refused    allowed
    failed      refused    refused     refused    unchanged  refused
    reversed    refused    refused     refused    refused    unchanged
  `)
  const results = statuses.map((from) => [from, ...statuses.map((to) => checkTransition(from, to))])
  expect([['from', ...statuses], ...results]).toEqual(rows)
})

test('each transition leads to a later status, in whose list a reader finds the debit', () => {
  const allowed = pairs.filter(([from, to]) => checkTransition(from, to) === 'allowed')
  expect(allowed.filter(([from, to]) => statuses.indexOf(from) >= statuses.indexOf(to))).toEqual([])
})

test('the timeouts apply to pending and processing debits only', () => {
  expect(statuses.filter(isOpen)).toEqual(['pending', 'processing'])
})

test('every status has its published consequences', () => {
  const rows = rowsOf(`
    status      waits for   list  daily limit  settlement  adds           refund  event                   priority  retries
    pending     submission  main  true         none        null           false   transaction.pending     low       2
    processing  outcome     main  true         none        null           false   transaction.processing  medium    5
    completed   null        main  true         settle      null           false   transaction.completed   high      10
    failed      null        own   false        none        error_details  true    transaction.failed      high      10
    reversed    null        own   true         adjust      refund         true    transaction.reversed    medium    5
  `)
  const listed = statuses.map((status) => {
    const { waitsFor, list, isCounted, settlement, adds } = lifecycle[status]
    const { event, priority, retries } = lifecycle[status]
    const facts = [status, waitsFor, list, isCounted, settlement, adds, canHaveRefund(status)]
    return [...facts, event, priority, retries].map(String)
  })
  expect(listed).toEqual(rows.slice(1))
})

test('a rejected report of a bank becomes the exception of the status that it contradicts', () => {
  const rows = rowsOf(`
    status      approved        completed        failed
    pending     refused_report  refused_report   refused_report
    processing  refused_report  refused_report   refused_report
    completed   refused_report  refused_report   contradiction
    failed      refused_report  late_completion  refused_report
    reversed    refused_report  refused_report   contradiction
  `)
  const reports = ['approved', 'completed', 'failed'] as const
  expect([
    ['status', ...reports],
    ...statuses.map((status) => [
      status,
      ...reports.map((reported) => exceptionKind(status, reported)),
    ]),
  ]).toEqual(rows)
})

test('one final status keeps the main list, so that the sweep knows its debits by their list', () => {
  const kept = statuses.filter((status) => !isOpen(status) && !hasOwnList(status))
  expect(kept).toEqual(['completed'])
})

/** Returns a section of docs/api.md. */
const sectionOf = (title: string): string => {
  const page = readFileSync('docs/api.md', 'utf8')
  return page.split(/^#+ /m).find((section) => section.startsWith(`${title}\n`)) ?? ''
}

test('the page docs/api.md names the statuses, which of them are final, and the transitions', () => {
  const described = sectionOf('Statuses').matchAll(/`(\w+)`: ([^`]*)/g)
  const names = [...described].map(([, name = '', text = '']) => ({ name, text }))
  expect(names.map(({ name }) => name)).toEqual(statuses)
  const final = statuses.filter((status) => lifecycle[status].next.length === 0)
  expect(names.filter(({ text }) => text.includes('final')).map(({ name }) => name)).toEqual(final)
  const transitions = statuses.flatMap((status) => {
    const { next } = lifecycle[status]
    return next.length > 0 ? [`${status} → ${next.join(', ')}`] : []
  })
  expect(sectionOf('Transitions')).toContain(`- ${transitions.join('; ')}.\n`)
})

test('the page docs/architecture.md shows the lifecycle of a debit', async () => {
  const page = readFileSync('docs/architecture.md', 'utf8')
  const block = /(?<=<!-- Debit states\b.*?-->\n).*?(?=<!-- End of debit states -->)/s
  const transitions = pairs.filter(([from, to]) => checkTransition(from, to) === 'allowed')
  const final = statuses.filter((status) => transitions.every(([from]) => from !== status))
  const diagram = [
    '```mermaid',
    'stateDiagram-v2',
    '  direction LR',
    `  [*] --> ${statuses[0]}`,
    ...transitions.map(([from, to]) => `  ${from} --> ${to}`),
    ...final.map((status) => `  ${status} --> [*]`),
    '```\n',
  ].join('\n')
  expect(page).toMatch(block)
  await expect(page.replace(block, diagram)).toMatchFileSnapshot('../../../docs/architecture.md')
})

test('the page docs/table.md has the list of each status', () => {
  const page = readFileSync('docs/table.md', 'utf8')
  const own = statuses.filter(hasOwnList)
  const main = statuses.filter((status) => !hasOwnList(status))
  expect(page).toContain(`| \`good\` | from the charge: ${main.join(', ')} |`)
  expect(page).toContain(`| \`open\` | ${statuses.filter(isOpen).join(' or ')} when the`)
  expect(page).toContain(`| ${own.map((list) => `\`${list}\``).join(', ')} | ${own.join(', ')} |`)
})
