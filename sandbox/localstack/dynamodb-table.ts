import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { keyAttributes, tableDefinition } from '../../infra/definitions/table.ts'

const keySchema = (keys: { partitionKey: string; sortKey: string }): KeySchemaElement[] => [
  { AttributeName: keys.partitionKey, KeyType: 'HASH' },
  { AttributeName: keys.sortKey, KeyType: 'RANGE' },
]

/** Creates the table of the stack in DynamoDB Local. */
export const createTable = async (endpoint: string, TableName: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint })
  const { partitionKey, sortKey, timeToLive, indexes } = tableDefinition
  try {
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: keyAttributes.map((AttributeName) => ({
          AttributeName,
          AttributeType: 'S',
        })),
        KeySchema: keySchema({ partitionKey, sortKey }),
        GlobalSecondaryIndexes: indexes.map((index) => ({
          IndexName: index.name,
          KeySchema: keySchema(index),
          Projection:
            index.projected.length > 0
              ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...index.projected] }
              : { ProjectionType: 'KEYS_ONLY' },
        })),
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    )
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName,
        TimeToLiveSpecification: { AttributeName: timeToLive, Enabled: true },
      }),
    )
  } finally {
    client.destroy()
  }
}

export const removeTable = async (endpoint: string, TableName: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint })
  await client.send(new DeleteTableCommand({ TableName }))
  client.destroy()
}
