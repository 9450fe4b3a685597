import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { table } from '../../shared/store/table.ts'
import { TIMEOUT_MS } from './fixture.ts'

/** Records the commands that the product sends to the table, and sends them by a client of the AWS SDK. */

// biome-ignore lint/suspicious/noExplicitAny: the input of any command
type Input = any

/** `sendBy` sends the command again, with this input or another. */
export type Call = {
  name: string
  input: Input
  sendBy: (client: DynamoDBDocumentClient, input?: Input) => unknown
}

/** Intercepts commands before the client. Returns a function that stops it. */
export const tapTable = (
  tap: (call: Call, proceed: () => Promise<unknown>) => Promise<unknown>,
): (() => void) => {
  const send = table.send.bind(table)
  const sendTapped = (command: Parameters<DynamoDBDocumentClient['send']>[0]) => {
    const { input, constructor: Sent } = command
    // A command cannot be sent again: the first client adds its middleware to it.
    const sendBy: Call['sendBy'] = (client, other = input) =>
      client.send(Reflect.construct(Sent, [other]))
    return tap({ name: Sent.name, input, sendBy }, () => send(command))
  }
  Object.assign(table, { send: sendTapped })
  return () => Object.assign(table, { send })
}

/** The base of a comparison: the document client of the AWS SDK, with as many attempts as the product's. */
export const bareClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(
    new DynamoDBClient({ maxAttempts: 2, requestHandler: { requestTimeout: TIMEOUT_MS } }),
    { marshallOptions: { removeUndefinedValues: true } },
  )
