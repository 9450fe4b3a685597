import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  DynamoDBClient,
  DynamoDBServiceException,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import * as documentClient from '@aws-sdk/lib-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { tableDefinition } from '../../../infra/definitions/table.ts'
import type { Change } from '../../../sandbox/aws/table/change.ts'
import { newTable, type Table } from '../../../sandbox/aws/table/table.ts'
import { createTable, removeTable } from '../../../sandbox/localstack/dynamodb-table.ts'
import { type Operation, TABLE } from './random-operation.ts'

/** A table of DynamoDB Local and a simulated one. */
type TwoTables = {
  local: Run
  simulated: Run
  table: Table
  changes: readonly Change[]
  remove: () => Promise<void>
}

type Run = (operation: Operation) => Promise<Outcome>

type Outcome = { output: Record<string, unknown> } | { error: object }

type Local = { endpoint: string; client: DynamoDBDocumentClient }

export const localAt = (endpoint: string): Local => ({
  endpoint,
  client: DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, maxAttempts: 1 }), {
    marshallOptions: { removeUndefinedValues: true },
  }),
})

type AnyCommand = new (input: object) => Parameters<DynamoDBDocumentClient['send']>[0]

export const newTwoTables = async ({ endpoint, client }: Local): Promise<TwoTables> => {
  const name = `pair-${randomUUID()}`
  await createTable(endpoint, name)
  const changes: Change[] = []
  const table = newTable({
    definition: tableDefinition,
    name,
    now: () => 0,
    onCommit: (committed) => changes.push(...committed),
  })

  const local: Run = ({ command, input }) => {
    const Command = Reflect.get(documentClient, command) as AnyCommand
    return outcomeOf(command, async () => client.send(new Command(inTable(input, name))))
  }

  return {
    local,
    simulated: ({ command, input }) =>
      outcomeOf(command, async () => table.run(command, inTable(input, name))),
    table,
    changes,
    remove: () => removeTable(endpoint, name),
  }
}

/** Fills in the name of the table and a token that is unique to it. */
const inTable = (input: Record<string, unknown>, name: string): object => {
  const named = renamed(input, TABLE, name) as Record<string, unknown>
  const token = named.ClientRequestToken
  return token === undefined
    ? named
    : { ...named, ClientRequestToken: `${token}-${name.slice(-12)}` }
}

/** Replaces the name of the table in a command. */
const renamed = (value: unknown, from: string, to: string): unknown => {
  if (value === from) return to
  if (Array.isArray(value)) return value.map((one) => renamed(one, from, to))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key === from ? to : key, renamed(one, from, to)]),
  )
}

const outcomeOf = async (command: string, run: () => Promise<object>): Promise<Outcome> => {
  try {
    const output = comparable({ ...(await run()) })
    const { Items } = output as { Items?: object[] }
    // A scan has no order.
    return {
      output: Items && command === 'ScanCommand' ? { ...output, Items: inOrder(Items) } : output,
    }
  } catch (error) {
    if (!(error instanceof DynamoDBServiceException)) throw error
    const { Item, CancellationReasons } = error as Partial<TransactionCanceledException> & {
      Item?: unknown
    }
    const reasons = CancellationReasons?.map(({ Code, Item }) => ({ Code, Item }))
    // DynamoDB names the invalid write; Local mostly rejects the whole transaction.
    if (reasons?.some(({ Code }) => Code === 'ValidationError')) {
      return { error: { name: 'ValidationException' } }
    }
    return { error: { name: error.name, Item, reasons } }
  }
}

/** Removes metadata and orders unordered items. */
const comparable = ({ $metadata, ConsumedCapacity, ...output }: Record<string, unknown>) => {
  const { Responses } = output
  if (typeof Responses !== 'object' || Responses === null || Array.isArray(Responses)) return output
  const [items] = Object.values(Responses) as object[][]
  return { ...output, Responses: inOrder(items ?? []) }
}

const inOrder = (items: readonly object[]): object[] =>
  [...items].sort((one, other) => (text(one) < text(other) ? -1 : 1))

const text = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.entries(member).sort()
      : member,
  )

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
