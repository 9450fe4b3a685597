import { globSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { operationLists, TABLE } from './random-operation.ts'
import { differenceIn, localAt, newTwoTables } from './two-tables.ts'

/**
 * The simulated table equals DynamoDB Local in every result, item and index. `npm run prove:long`
 * has more operations, other ones each time. A failed run prints its seed and the shortest list.
 */

const isLong = process.env.LONG === 'true'
const count = isLong ? 100_000 : 4_000
const PER_LIST = 400
/** A generous limit for one operation; a failed run shrinks its list, too. */
const OPERATION_MS = 30
const timeout = 600_000 + count * OPERATION_MS

const local = localAt(inject('dynamoDbLocal'))

test(`the results of ${count} random operations are equal`, { timeout }, async () => {
  const property = fc.asyncProperty(operationLists(PER_LIST), async (operations) => {
    expect(await differenceIn(operations, local)).toBeUndefined()
  })
  // The average list has half of the maximum length.
  const numRuns = Math.ceil(count / (PER_LIST / 2))
  await fc.assert(property, isLong ? { numRuns } : { numRuns, seed: 20261121 })
})

const WORDS =
  /\b(?:[A-Z]\w+(?:Command|Expression)|[A-Z]+_(?:NEW|OLD)|[a-z]+(?:_[a-z]+)+(?=\()|size|COUNT|SET|ADD|REMOVE|DELETE|AND|OR|NOT|IN|BETWEEN|ConsistentRead|ScanIndexForward|Limit|Select|IndexName|ReturnValues|ClientRequestToken)\b/g

test('the random operations have every command, option and function of the product', () => {
  const source = globSync('shared/store/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const sample = fc.sample(operationLists(PER_LIST), { numRuns: 30, seed: 1 })
  const random = new Set(JSON.stringify(sample).match(WORDS))
  const used = new Set(source.join(' ').match(WORDS))
  expect(used.size).toBeGreaterThan(20)
  // The sealing key is no item of the table.
  used.delete('GetSecretValueCommand')
  expect([...used].filter((word) => !random.has(word))).toEqual([])
})

test('a long page ends with the row that makes it a megabyte', async () => {
  const tables = await newTwoTables(local)
  const members = { n: -12345.678, zero: 0, list: ['a', [1, null]], map: { é: { yes: true } } }
  const rows = Array.from({ length: 30 }, (_, n) => ({ pk: 'p', sk: String(100 + n), ...members }))
  for (const [n, row] of rows.entries()) {
    const Item = { ...row, text: 'x'.repeat(60_000 + n) }
    const put = { command: 'PutCommand', input: { TableName: TABLE, Item } }
    await Promise.all([tables.local(put), tables.simulated(put)])
  }
  for (const ScanIndexForward of [true, false]) {
    const input = {
      TableName: TABLE,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'p' },
      ScanIndexForward,
      ConsistentRead: true,
    }
    const page = await tables.simulated({ command: 'QueryCommand', input })
    expect(page).toMatchObject({ output: { LastEvaluatedKey: { pk: 'p' } } })
    expect(await tables.local({ command: 'QueryCommand', input })).toEqual(page)
  }
  await tables.remove()
})
