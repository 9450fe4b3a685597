import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkTransition, statuses } from '../../../shared/domain/debits/lifecycle.ts'

const PAGE = 'docs/architecture.md'
const BLOCK = /(?<=<!-- Debit states\b.*?-->\n).*?(?=<!-- End of debit states -->)/s

const pairs = statuses.flatMap((from) => statuses.map((to) => [from, to] as const))
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

test('the page shows the lifecycle of a debit', async () => {
  const page = readFileSync(PAGE, 'utf8')
  expect(page).toMatch(BLOCK)
  await expect(page.replace(BLOCK, diagram)).toMatchFileSnapshot(`../../../${PAGE}`)
})
