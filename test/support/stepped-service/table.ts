import { randomUUID } from 'node:crypto'
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { inject } from 'vitest'
import { jobs } from '../../../infra/definitions/jobs.ts'
import { createTable } from '../../../sandbox/emulator/table.ts'
import { table, tableName } from '../../../shared/store/table.ts'

/** A table on DynamoDB Local, with its stream. */

export type Item = Record<string, unknown> & { pk: string; sk: string; entity?: string }

const relayed: readonly string[] = jobs.relay.from.stream

export const openTable = async () => {
  const endpoint = inject('emulators').dynamoDb
  const name = `test-${randomUUID()}`
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, TABLE_NAME: name })
  const readStream = await openStream(endpoint, await createTable(endpoint, name))
  return {
    readStream,
    items: async (): Promise<Item[]> => {
      const { Items = [] } = await table.send(
        new ScanCommand({ TableName: tableName(), ConsistentRead: true }),
      )
      return Items as Item[]
    },
  }
}

/** Returns a function that reads the records since its last call. */
const openStream = async (
  endpoint: string,
  StreamArn: string,
): Promise<() => Promise<DynamoDBRecord[]>> => {
  const client = new DynamoDBStreamsClient({ endpoint })
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }))
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId
  const oldest = async (): Promise<string | undefined> => {
    const { ShardIterator } = await client.send(
      new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
    )
    return ShardIterator
  }
  // An iterator of an empty stream expires when DynamoDB Local writes to other tables.
  let next: string | undefined
  return async () => {
    const { Records = [], NextShardIterator } = await client.send(
      new GetRecordsCommand({ ShardIterator: next ?? (await oldest()) }),
    )
    if (!NextShardIterator) throw new Error('The stream has another shard')
    if (next || Records.length > 0) next = NextShardIterator
    return (Records as DynamoDBRecord[]).filter(({ dynamodb }) =>
      relayed.includes(dynamodb?.NewImage?.entity?.S ?? ''),
    )
  }
}
