import { globSync, readFileSync } from 'node:fs'
import { expect, inject, test } from 'vitest'
import { type Difference, differenceIn, shortened } from './difference.ts'
import { KINDS, TABLE } from './random-operation.ts'
import { operationsOf } from './random-operations.ts'
import { type Local, localAt, newTwoTables } from './two-tables.ts'

/**
 * The simulated table equals DynamoDB Local in every result, index and stream record. `OPERATIONS`
 * sets the number of operations, `OPERATIONS_SEED` repeats a run.
 */

const { OPERATIONS, OPERATIONS_SEED } = process.env
const count = Number(OPERATIONS ?? 4_000)
const seed = Number(OPERATIONS_SEED ?? (OPERATIONS ? Date.now() % 1_000_000_000 : 20261121))

const PER_TABLE = 400
const AT_ONCE = 6
/** Generous limits for one operation, and for shortening a difference. */
const OPERATION_MS = 30
const SHORTEN_MS = 600_000

const timeout = SHORTEN_MS + count * OPERATION_MS

test(`${count} random operations from seed ${seed} come to the same`, { timeout }, async () => {
  const local = localAt(inject('emulators').dynamoDb)
  const seeds = Array.from({ length: Math.ceil(count / PER_TABLE) }, (_, n) => seed + n)
  let found: (Difference & { seed: number }) | undefined
  const runner = async (): Promise<void> => {
    for (let next = seeds.shift(); next !== undefined && !found; next = seeds.shift()) {
      const difference = await differenceIn(operationsOf(next, PER_TABLE), local)
      if (difference) found ??= { ...difference, seed: next }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runner))
  expect(found && (await told(found, local))).toBeUndefined()
})

test('the random operations are of every command that the store sends', () => {
  const sources = globSync('{shared/store,functions}/**/*.ts').map((file) =>
    readFileSync(file, 'utf8'),
  )
  const sent = sources.flatMap((text) =>
    [...text.matchAll(/new (\w+Command)\(/g)].map(([, name]) => name),
  )
  expect(new Set(sent).size).toBeGreaterThan(5)
  expect(sent.filter((name) => !KINDS.some(([kind]) => kind === name))).toEqual([])
})

test('a long page ends with the row that makes it a megabyte', async () => {
  const tables = await newTwoTables(localAt(inject('emulators').dynamoDb))
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

const told = async ({ seed, ...difference }: Difference & { seed: number }, local: Local) =>
  JSON.stringify({ seed, ...(await shortened(difference, local)) }, null, 1)
