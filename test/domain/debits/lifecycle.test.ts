import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkTransition, isOpen, statuses } from '../../../shared/domain/debits/lifecycle.ts'
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

test('timeouts apply to pending and processing debits only', () => {
  expect(statuses.filter(isOpen)).toEqual(['pending', 'processing'])
})

test('docs/architecture.md shows the lifecycle of a debit', async () => {
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
