import {
  CreateTableCommand,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { tableDefinition } from '../table.ts'

/**
 * Creates the table as the stack does.
 * @returns the ARN of its stream
 */
export const createTable = async (endpoint: string, tableName: string): Promise<string> => {
  const client = new DynamoDBClient({ endpoint })
  const { partitionKey, sortKey, timeToLive } = tableDefinition
  try {
    const { TableDescription } = await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [partitionKey, sortKey].map((AttributeName) => ({
          AttributeName,
          AttributeType: 'S',
        })),
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          { AttributeName: sortKey, KeyType: 'RANGE' },
        ],
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    )
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: tableName,
        TimeToLiveSpecification: { AttributeName: timeToLive, Enabled: true },
      }),
    )
    const streamArn = TableDescription?.LatestStreamArn
    if (!streamArn) throw new Error(`Table ${tableName} has no stream`)
    return streamArn
  } finally {
    client.destroy()
  }
}
