import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { feedGroupsOf, quotas, READS_PER_SHARD } from '../../infra/definitions/quotas.ts'
import { readCounts } from '../../proofs/ceilings/counts.ts'
import { ceilingsTable, needsOf, rates } from '../../proofs/ceilings/needs.ts'

const page = readFileSync('docs/capacity.md', 'utf8')
const counts = readCounts()

test('the page docs/capacity.md has the ceilings that `npm run ceilings` computes', () => {
  const [table] = /^\| Component \| Has \|.*?(?=\n\n)/ms.exec(page) ?? []
  expect(table).toBe(ceilingsTable(counts))
})

test('the page docs/capacity.md has the quotas of the ceilings', () => {
  const [table = ''] = /^\| Quota \|.*?\n\n/ms.exec(page) ?? []
  // The page has no read units: they bind later than write units.
  const { tableReadUnits: _, ...documented } = quotas
  const inPage = table.replaceAll(',', '')
  const missing = Object.entries(documented).filter(([, value]) => !inPage.includes(` ${value}`))
  expect(missing).toEqual([])
})

test('no group of the feeds binds at any throttle, and a small stage has one group', () => {
  expect(feedGroupsOf({ throttle: { perSecond: 2_000 } })).toBe(1)
  for (let perSecond = 100; perSecond <= 40_000; perSecond += 100) {
    const groups = feedGroupsOf({ throttle: { perSecond } })
    const shards = (perSecond * counts.written) / quotas.partitionWriteUnits
    expect((READS_PER_SHARD * shards) / groups).toBeLessThanOrEqual(quotas.fifoCallsPerGroup)
  }
})

test('the needs of a component grow with the rate, unless the stage divides it', () => {
  for (const { component, at } of needsOf(counts)) {
    const needs = rates.map(at)
    expect([component, needs]).toEqual([component, needs.toSorted((one, other) => one - other)])
  }
})
