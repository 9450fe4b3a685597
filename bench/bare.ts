import {
  DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { PATIENCE_MS } from './ground.ts'
import type { Call } from './wire.ts'

/** The base: the same calls by a client of the AWS SDK that is given them as they go over the wire. */

/** With as many tries as the product's own. */
export const bareClient = (): DynamoDBClient =>
  new DynamoDBClient({ maxAttempts: 2, requestHandler: { requestTimeout: PATIENCE_MS } })

export const sendBarely = (
  client: DynamoDBClient,
  { operation, input }: Call,
): Promise<unknown> => {
  switch (operation) {
    case 'GetItem':
      return client.send(new GetItemCommand(input))
    case 'UpdateItem':
      return client.send(new UpdateItemCommand(input))
    case 'TransactWriteItems':
      return client.send(new TransactWriteItemsCommand(input))
    default:
      throw new Error(`${operation} has no base`)
  }
}
