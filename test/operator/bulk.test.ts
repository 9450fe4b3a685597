import { setImmediate } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { runBulk, scopeOf, skipped, storeSelection } from '../../shared/operator/bulk.ts'
import { NOON, pendingDebit, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

beforeEach(useFreshTable)

test('a call about many ends after it has stored the outcome of each debit', async () => {
  const references = [pendingDebit(), pendingDebit()].map(({ facts }) => facts.reference)
  const author = { noun: 'exception', verb: 'resolve', id: 'c-1', at: NOON, by: 'local:ama' }
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
