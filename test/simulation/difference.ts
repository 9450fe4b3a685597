import { isDeepStrictEqual } from 'node:util'
import { anyOperation, INDEXES, partitionsOf } from './any-operation.ts'
import { chanceOf } from './chance.ts'
import { type Operation, TABLE } from './operation.ts'
import { byText, type Local, newTwoTables, type TwoTables } from './two-tables.ts'

/** Where the simulated table differs from DynamoDB Local. */
export type Difference = { after: readonly Operation[]; local: unknown; simulated: unknown }

export const operationsOf = (seed: number, count: number): Operation[] => {
  const chance = chanceOf(seed)
  const operations: Operation[] = []
  while (operations.length < count) operations.push(anyOperation(chance, operations))
  return operations
}

/** Does operations on both, one after the other, until they differ. */
export const differenceIn = async (
  operations: readonly Operation[],
  local: Local,
): Promise<Difference | undefined> => {
  const tables = await newTwoTables(local)
  try {
    for (const [n, operation] of operations.entries()) {
      const difference = await differenceAt(operation, tables)
      if (difference) return { after: operations.slice(0, n + 1), ...difference }
    }
    const end = (await differenceInIndexes(tables)) ?? (await differenceAtEnd(tables))
    return end && { after: operations, ...end }
  } finally {
    await tables.remove()
  }
}

type Differing = { local: unknown; simulated: unknown }

const unlessSame = (local: unknown, simulated: unknown): Differing | undefined =>
  isDeepStrictEqual(plain(local), plain(simulated)) ? undefined : { local, simulated }

/** Without members that are undefined, prototypes, and whatever else no caller sees. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null')

/** A page that leaves something over is followed to the last one. */
const differenceAt = async (
  operation: Operation,
  tables: TwoTables,
): Promise<Differing | undefined> => {
  const { local, simulated } = await tables.run(operation)
  const difference = unlessSame(local, simulated)
  if (difference || !('output' in local)) return difference
  const { LastEvaluatedKey: ExclusiveStartKey } = local.output
  if (ExclusiveStartKey === undefined) return undefined
  return differenceAt({ ...operation, input: { ...operation.input, ExclusiveStartKey } }, tables)
}

const differenceInIndexes = async (tables: TwoTables): Promise<Differing | undefined> => {
  for (const { name, partitionKey } of INDEXES) {
    for (const partition of partitionsOf(partitionKey)) {
      const input = {
        TableName: TABLE,
        IndexName: name,
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': partitionKey },
        ExpressionAttributeValues: { ':key': partition },
      }
      const difference = await differenceAt({ command: 'QueryCommand', input }, tables)
      if (difference) return difference
    }
  }
  return undefined
}

/** The whole table, and every record of its stream. */
const differenceAtEnd = async (tables: TwoTables): Promise<Differing | undefined> => {
  const { simulated, run, stream } = tables
  const scanned = await run({ command: 'ScanCommand', input: { TableName: TABLE } })
  const { Items } = ('output' in scanned.local ? scanned.local.output : {}) as { Items?: unknown[] }
  const records = simulated.changes.map(simulated.streamRecord).map(({ eventName, dynamodb }) => ({
    eventName,
    Keys: dynamodb?.Keys,
    NewImage: dynamodb?.NewImage,
    OldImage: dynamodb?.OldImage,
  }))
  return (
    unlessSame(byText((Items ?? []).map(sorted)), byText(simulated.items().map(sorted))) ??
    unlessSame(await stream(records.length), records)
  )
}

const sorted = (item: unknown): object =>
  Object.fromEntries(
    Object.entries(item as object).sort(([one], [other]) => (one < other ? -1 : 1)),
  )

const TRIES_MAX = 400

/** The fewest operations found that still differ: parts are left out as long as it can be. */
export const shortened = async (difference: Difference, local: Local): Promise<Difference> => {
  let shortest = difference
  let tries = 0
  for (let size = Math.ceil(shortest.after.length / 2); size >= 1; ) {
    let isShorter = false
    for (let from = 0; from < shortest.after.length && tries < TRIES_MAX; ) {
      const fewer = shortest.after.filter((_, n) => n < from || n >= from + size)
      tries += 1
      const found = fewer.length > 0 ? await differenceIn(fewer, local) : undefined
      if (found) {
        shortest = found
        isShorter = true
      } else from += size
    }
    if (size === 1 && !isShorter) break
    size = size === 1 ? 1 : Math.ceil(size / 2)
    if (tries >= TRIES_MAX) break
  }
  return shortest
}
