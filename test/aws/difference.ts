import { isDeepStrictEqual } from 'node:util'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { type Operation, TABLE } from './random-operation.ts'
import {
  inOrder,
  type Local,
  newTwoTables,
  type Outcome,
  type Run,
  type TwoTables,
} from './two-tables.ts'

/** The results of the simulated table and of DynamoDB Local. */
type Differing = { operation?: Operation; local: unknown; simulated: unknown }

/** Runs operations on both tables until the results differ. */
export const differenceIn = async (
  operations: readonly Operation[],
  local: Local,
): Promise<Differing | undefined> => {
  const tables = await newTwoTables(local)
  try {
    for (const operation of operations) {
      const difference = await differenceAt(operation, tables)
      if (difference) return { operation, ...difference }
    }
    return (await differenceInIndexes(tables)) ?? (await differenceAtEnd(tables))
  } finally {
    await tables.remove()
  }
}

const unlessSame = (local: unknown, simulated: unknown): Differing | undefined =>
  isDeepStrictEqual(plain(local), plain(simulated)) ? undefined : { local, simulated }

/** Removes undefined members and prototypes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null')

const seen = (outcome: Outcome): object =>
  'output' in outcome ? outcome.output : { error: outcome.error }

const differenceAt = async (
  operation: Operation,
  tables: TwoTables,
): Promise<Differing | undefined> => {
  const isIndexed = operation.input.IndexName !== undefined
  const [local, simulated] = [
    await pagesOf(operation, tables.local),
    await pagesOf(operation, tables.simulated),
  ]
  const shown = isIndexed ? anyTies : (pages: readonly Outcome[]) => pages.map(seen)
  return unlessSame(shown(local), shown(simulated)) && { local, simulated }
}

/** Runs an operation and follows its pages. */
const pagesOf = async (operation: Operation, run: Run): Promise<Outcome[]> => {
  const pages: Outcome[] = []
  for (let input = operation.input; ; ) {
    const page = await run({ ...operation, input })
    pages.push(page)
    const next = 'output' in page ? page.output.LastEvaluatedKey : undefined
    if (next === undefined) return pages
    input = { ...operation.input, ExclusiveStartKey: next }
  }
}

/** An index orders items of one sort key arbitrarily, so pages may end between any two of them. */
const anyTies = (pages: readonly Outcome[]): unknown => {
  const outputs = pages.flatMap((page) => ('output' in page ? [page.output] : []))
  const items = outputs.flatMap(({ Items }) => (Items ?? []) as Record<string, unknown>[])
  const times = items.map(({ byTime, due }) => byTime ?? due)
  const counts = outputs.map(({ Count }) => Number(Count))
  return {
    times,
    items: inOrder(items),
    count: counts.reduce((sum, count) => sum + count, 0),
    scanned: outputs.map(({ ScannedCount }) => ScannedCount),
    errors: pages.map((page) => ('error' in page ? page.error : undefined)),
  }
}

/** Compares every partition that an index ever had. */
const differenceInIndexes = async (tables: TwoTables): Promise<Differing | undefined> => {
  for (const { name, partitionKey } of tableDefinition.indexes) {
    const written = tables.changes.map(({ after }) => after?.[partitionKey])
    for (const partition of new Set(written.filter((value) => value !== undefined))) {
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

/** Compares all items. */
const differenceAtEnd = async ({ local, table }: TwoTables): Promise<Differing | undefined> => {
  const scanned = await local({ command: 'ScanCommand', input: { TableName: TABLE } })
  const { Items } = ('output' in scanned ? scanned.output : {}) as { Items?: object[] }
  return unlessSame(inOrder(Items ?? []), inOrder(table.items()))
}
