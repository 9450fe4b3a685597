import { setImmediate } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { runBulk, scopeOf, skipped, storeSelection } from '../../shared/operator/bulk.ts'
import { NOON, pendingDebit, still } from '../support/examples.ts'
import { granted, refused } from '../support/refused.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

beforeEach(useFreshTable)

const author = { noun: 'exception', verb: 'resolve', id: 'c-1', at: NOON, by: 'local:ama' }

test('a call about more debits than its reply can name is refused', async () => {
  const scopeOfMany = async (count: number) => {
    const amounts = Array.from({ length: count }, (_, n): [Reference, number] => [
      `DCS-20200101-${String(n).padStart(6, '0')}` as Reference,
      1_00,
    ])
    return scopeOf(await storeSelection(new Map(amounts), author))
  }
  expect(granted(await scopeOfMany(30_000)).totals.count).toBe(30_000)
  expect(refused(await scopeOfMany(30_001)).details).toBe('one call takes at most 30000 references')
})

test('a call about many ends after it has stored the outcome of each debit', async () => {
  const references = [pendingDebit(), pendingDebit()].map(({ facts }) => facts.reference)
  const amounts = new Map(references.map((reference) => [reference, 1_00]))
  const scope = granted(await scopeOf(await storeSelection(amounts, author)))
  const restore = aroundTableCalls(async (name, next) => {
    // Later than all reads.
    for (let turn = 0; name === 'Put' && turn < 100; turn += 1) await setImmediate()
    return next()
  })
  const result = await runBulk(scope, async () => skipped('its refund is open'), author, still())
  restore()
  expect(result).toMatchObject({ done: 0, skipped: [{}, {}], refused: [] })
})
