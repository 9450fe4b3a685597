import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams'
import type { DynamoDBRecord } from 'aws-lambda'
import { jobs } from '../../../infra/definitions/jobs.ts'

const wanted: readonly string[] = jobs.relay.from.stream

/** The real stream of a table: each call gives what was written since the one before. */
export const openStream = async (
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
  // An iterator of an empty stream does not outlive what DynamoDB Local writes to other tables.
  let next: string | undefined
  return async () => {
    const { Records = [], NextShardIterator } = await client.send(
      new GetRecordsCommand({ ShardIterator: next ?? (await oldest()) }),
    )
    if (!NextShardIterator) throw new Error('The stream has another shard')
    if (next || Records.length > 0) next = NextShardIterator
    return (Records as DynamoDBRecord[]).filter(({ dynamodb }) =>
      wanted.includes(dynamodb?.NewImage?.entity?.S ?? ''),
    )
  }
}
