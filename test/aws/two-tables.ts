import { randomUUID } from 'node:crypto'
import {
  DynamoDBClient,
  DynamoDBServiceException,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import * as documentClient from '@aws-sdk/lib-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Change } from '../../aws/table/change.ts'
import { newTable, type Table } from '../../aws/table/table.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { createTable, removeTable } from '../../sandbox/emulator/resources.ts'
import { type Operation, TABLE } from './random-operation.ts'

/** A table of DynamoDB Local and a simulated one. */
export type TwoTables = {
  local: Run
  simulated: Run
  table: Table
  changes: readonly Change[]
  remove: () => Promise<void>
}

export type Run = (operation: Operation) => Promise<Outcome>

export type Outcome = { output: Record<string, unknown> } | { error: object }

export type Local = { endpoint: string; client: DynamoDBDocumentClient }

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

export const inOrder = (items: readonly object[]): object[] =>
  [...items].sort((one, other) => (text(one) < text(other) ? -1 : 1))

const text = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.entries(member).sort()
      : member,
  )
