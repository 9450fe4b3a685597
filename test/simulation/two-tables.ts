import { randomUUID } from 'node:crypto'
import {
  DynamoDBClient,
  DynamoDBServiceException,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import * as commands from '@aws-sdk/lib-dynamodb'
import { createTable, removeTable } from '../../infra/sandbox/table.ts'
import { tableDefinition } from '../../infra/table.ts'
import { newTable, type Table } from '../../simulation/aws/table.ts'
import { type Operation, TABLE } from './operation.ts'
import { type StreamedChange, streamOf } from './streamed.ts'

/** A table of DynamoDB Local and a simulated one, side by side. */
export type TwoTables = {
  /** Does one operation on both. */
  run: (operation: Operation) => Promise<{ local: Outcome; simulated: Outcome }>
  simulated: Table
  stream: (count: number) => Promise<StreamedChange[]>
  remove: () => Promise<void>
}

/** What a caller sees of one command. */
export type Outcome = { output: Record<string, unknown> } | { error: object }

export type Local = { endpoint: string; client: commands.DynamoDBDocumentClient }

export const localAt = (endpoint: string): Local => ({
  endpoint,
  client: commands.DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, maxAttempts: 1 }), {
    marshallOptions: { removeUndefinedValues: true },
  }),
})

type AnyCommand = new (input: object) => Parameters<commands.DynamoDBDocumentClient['send']>[0]

export const newTwoTables = async ({ endpoint, client }: Local): Promise<TwoTables> => {
  const name = `pair-${randomUUID()}`
  const streamArn = await createTable(endpoint, name)
  const simulated = newTable({ definition: tableDefinition, name, now: () => 0 })

  const run = async ({ command, input }: Operation) => {
    const ours = inTable(input, name)
    const Command = commands[command as keyof typeof commands] as unknown as AnyCommand
    const local = await outcomeOf(async () => client.send(new Command(ours)))
    return { local, simulated: await outcomeOf(async () => simulated.run(command, ours)) }
  }

  return {
    run,
    simulated,
    stream: (count) => streamOf(endpoint, streamArn, count),
    remove: () => removeTable(endpoint, name),
  }
}

/** An input with the name of the table in its place, and tokens that no other table knows. */
const inTable = (input: Record<string, unknown>, name: string): object => {
  const named = renamed(input, name) as Record<string, unknown>
  const token = named.ClientRequestToken
  return token === undefined
    ? named
    : { ...named, ClientRequestToken: `${token}-${name.slice(-12)}` }
}

const renamed = (value: unknown, name: string): unknown => {
  if (value === TABLE) return name
  if (Array.isArray(value)) return value.map((one) => renamed(one, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key === TABLE ? name : key, renamed(one, name)]),
  )
}

const outcomeOf = async (run: () => Promise<object>): Promise<Outcome> => {
  try {
    return { output: comparable({ ...(await run()) }) }
  } catch (error) {
    if (!(error instanceof DynamoDBServiceException)) throw error
    const { Item, CancellationReasons } = error as Partial<TransactionCanceledException> & {
      Item?: unknown
    }
    const reasons = CancellationReasons?.map(({ Code, Item }) => ({ Code, Item }))
    return { error: { name: error.name, Item, reasons } }
  }
}

/** What is said of the call itself, and the order of what has none, is nobody's concern. */
const comparable = ({ $metadata, ...output }: Record<string, unknown>) => {
  const { Responses } = output
  if (typeof Responses !== 'object' || Responses === null || Array.isArray(Responses)) return output
  const [items] = Object.values(Responses) as { pk: string; sk: string }[][]
  return { ...output, Responses: byText(items ?? []) }
}

export const byText = <T>(list: readonly T[]): T[] =>
  [...list].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
