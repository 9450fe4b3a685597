import {
  DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { bareClient } from './bare.ts'
import type { Call } from './wire.ts'

/** Calls as the SDK's document client takes them: with plain values. */

export type Command = { name: string; input: unknown }

const COMMANDS: Record<string, string> = {
  GetItem: 'GetCommand',
  Query: 'QueryCommand',
  UpdateItem: 'UpdateCommand',
  TransactWriteItems: 'TransactWriteCommand',
}

const MARKED = new Set(['Key', 'Item', 'ExpressionAttributeValues'])

const unmarked = (value: unknown, key = ''): unknown => {
  if (MARKED.has(key)) return unmarshall(value as Parameters<typeof unmarshall>[0])
  if (Array.isArray(value)) return value.map((one) => unmarked(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unmarked(one, name)]))
}

/** A call of the wire as a command. */
export const commandOf = ({ operation, input }: Call): Command => ({
  name: COMMANDS[operation] ?? operation,
  input: unmarked(input),
})

const sendOn = (client: DynamoDBDocumentClient, { name, input }: Command): Promise<unknown> => {
  switch (name) {
    case 'GetCommand':
      return client.send(new GetCommand(input as GetCommand['input']))
    case 'UpdateCommand':
      return client.send(new UpdateCommand(input as UpdateCommand['input']))
    case 'TransactWriteCommand':
      return client.send(new TransactWriteCommand(input as TransactWriteCommand['input']))
    default:
      throw new Error(`${name} has no base`)
  }
}

/** @param handle the last step of its client */
export const documentSender = (handle: unknown): ((command: Command) => Promise<unknown>) => {
  const client = bareClient()
  Object.assign(client.config.requestHandler, { handle })
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  })
  return (command) => sendOn(documents, command)
}
