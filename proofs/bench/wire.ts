import {
  DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { table } from '../../shared/store/table.ts'
import { TIMEOUT_MS } from './fixture.ts'

/** Records the requests that the product's DynamoDB client sends, and sends them by a bare client. */

type WireRequest = { headers: Record<string, string>; body: Uint8Array }
type WireResponse = { response: unknown }
type Handle = (request: WireRequest, options?: unknown) => Promise<WireResponse>

/** A request on the wire: the operation, as in `UpdateItem`, and its input with typed values. */
// biome-ignore lint/suspicious/noExplicitAny: the input of any operation
export type Call = { operation: string; input: any }

const callOf = ({ headers, body }: WireRequest): Call => ({
  operation: headers['x-amz-target']?.split('.').at(-1) ?? '',
  input: JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()),
})

/** Intercepts requests between the client and the network. Returns a function that stops it. */
export const tapWire = (
  tap: (call: Call, proceed: () => Promise<WireResponse>) => Promise<WireResponse>,
): (() => void) => {
  const requestHandler = table.config.requestHandler as unknown as { handle: Handle }
  const { handle } = requestHandler
  requestHandler.handle = (request, options) =>
    tap(callOf(request), () => handle.call(requestHandler, request, options))
  return () => {
    requestHandler.handle = handle
  }
}

/** Builds a response of DynamoDB. */
export const wireResponse = (body: object): WireResponse => ({
  response: {
    statusCode: 200,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(JSON.stringify(body)),
  },
})

/** The base of a comparison: a client of the AWS SDK, with as many attempts as the product's. */
export const bareClient = (): DynamoDBClient =>
  new DynamoDBClient({ maxAttempts: 2, requestHandler: { requestTimeout: TIMEOUT_MS } })

/** @throws Error without a call, or for another operation */
export const sendBare = (client: DynamoDBClient, call: Call | undefined): Promise<unknown> => {
  switch (call?.operation) {
    case 'GetItem':
      return client.send(new GetItemCommand(call.input))
    case 'UpdateItem':
      return client.send(new UpdateItemCommand(call.input))
    case 'TransactWriteItems':
      return client.send(new TransactWriteItemsCommand(call.input))
    default:
      throw new Error(`No bare command for ${call?.operation}`)
  }
}

/** The base of a comparison of CPU time: the document client of the AWS SDK, as the product uses it. */
export const bareDocumentClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(bareClient())

const TYPED = new Set(['Key', 'Item', 'ExpressionAttributeValues'])

/** Returns the input of a document client for an input with typed values. */
const plainInput = (input: unknown): unknown => {
  if (Array.isArray(input)) return input.map(plainInput)
  if (typeof input !== 'object' || input === null) return input
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      TYPED.has(name) ? unmarshall(value) : plainInput(value),
    ]),
  )
}

/** Returns a function that sends a call by a document client. */
export const documentCall = (
  client: DynamoDBDocumentClient,
  call: Call,
): (() => Promise<unknown>) => {
  const input = plainInput(call.input) as never
  switch (call.operation) {
    case 'GetItem':
      return () => client.send(new GetCommand(input))
    case 'UpdateItem':
      return () => client.send(new UpdateCommand(input))
    case 'TransactWriteItems':
      return () => client.send(new TransactWriteCommand(input))
    default:
      throw new Error(`No document command for ${call.operation}`)
  }
}
