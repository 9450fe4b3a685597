import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams'

/** The compared members of a stream record. */
export type StreamedChange = {
  eventName?: unknown
  Keys?: unknown
  NewImage?: unknown
  OldImage?: unknown
}

const EMPTY_MAX = 3

/** Reads all records of a stream, in order; `count` are expected. */
export const streamOf = async (
  endpoint: string,
  StreamArn: string,
  count: number,
): Promise<StreamedChange[]> => {
  const client = new DynamoDBStreamsClient({ endpoint })
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }))
  const found: _Record[] = []
  for (const { ShardId } of StreamDescription?.Shards ?? []) {
    const { ShardIterator } = await client.send(
      new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
    )
    let iterator = ShardIterator
    for (let empty = 0; iterator && empty < EMPTY_MAX; ) {
      const { Records = [], NextShardIterator } = await client.send(
        new GetRecordsCommand({ ShardIterator: iterator }),
      )
      found.push(...Records)
      iterator = NextShardIterator
      if (Records.length === 0) empty += 1
      if (found.length >= count && Records.length === 0) break
    }
  }
  client.destroy()
  return found.map(streamed).map(withMaps)
}

export const streamed = ({
  eventName,
  dynamodb,
}: Pick<_Record, 'eventName'> & { dynamodb?: object | undefined }): StreamedChange => {
  const { Keys, NewImage, OldImage } = (dynamodb ?? {}) as Partial<StreamedChange>
  return { eventName, Keys, NewImage, OldImage }
}

/** DynamoDB Local omits the type of an empty map. */
const withMaps = (change: StreamedChange): StreamedChange =>
  JSON.parse(JSON.stringify(change), (_, value) =>
    JSON.stringify(value) === '{}' ? { M: {} } : value,
  )
