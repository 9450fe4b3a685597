import { setTimeout as pause } from 'node:timers/promises'
import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
  type Shard,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams'
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'

/** What Lambda does for the table's stream: reads each shard in order, filters, invokes, repeats. */

export type StreamFeed = {
  streamArn: string
  /** The entities whose changes the function wants. */
  entities: readonly string[]
  batchSize: number
  invoke: (event: DynamoDBStreamEvent) => Promise<unknown>
  /** Told of each record once, before the function is. */
  onArrived: (records: DynamoDBRecord[]) => void
  /** Told when the stream itself does not answer; the reader goes on. */
  onFault: (error: unknown) => void
  /** A batch that failed time and again is put aside, as it would be into the on-failure queue. */
  onLost: (records: DynamoDBRecord[]) => void
}

const IDLE_MS = 40
const REDISCOVER_MS = 2_000
const RETRIES_MAX = 10
/** Lambda's 6 MB, with room for what is around the records. */
const BATCH_MAX_BYTES = 6_000_000

/** @returns a function that stops the reader and waits for the work in hand */
export const pollStream = (endpoint: string, feed: StreamFeed): (() => Promise<void>) => {
  const client = new DynamoDBStreamsClient({ endpoint })
  const stopping = new AbortController()
  const shards = new Map<string, Promise<void>>()

  const discover = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      for (const { ShardId = '', ParentShardId = '' } of await shardsOf(client, feed)) {
        if (shards.has(ShardId)) continue
        // A child holds what came after its parent, so it waits for its turn.
        const parent = shards.get(ParentShardId) ?? Promise.resolve()
        shards.set(
          ShardId,
          parent
            .then(() => readShard(client, feed, ShardId, stopping.signal))
            .catch((error) => {
              // It is found again, and read from its beginning: consumers bear that.
              shards.delete(ShardId)
              if (!stopping.signal.aborted) feed.onFault(error)
            }),
        )
      }
      await pause(REDISCOVER_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    await Promise.all(shards.values())
    client.destroy()
  }

  const discovering = discover()
  return async () => {
    stopping.abort()
    await discovering
  }
}

const shardsOf = async (client: DynamoDBStreamsClient, feed: StreamFeed): Promise<Shard[]> => {
  try {
    const { StreamDescription } = await client.send(
      new DescribeStreamCommand({ StreamArn: feed.streamArn }),
    )
    return StreamDescription?.Shards ?? []
  } catch (error) {
    feed.onFault(error)
    return []
  }
}

const oldestRecord = async (
  client: DynamoDBStreamsClient,
  StreamArn: string,
  ShardId: string,
): Promise<string | undefined> => {
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
  )
  return ShardIterator
}

/**
 * DynamoDB Local counts the records of all its tables in one sequence, and calls an iterator that
 * was taken from an empty stream trimmed once another table was written: it starts again then.
 */
const readShard = async (
  client: DynamoDBStreamsClient,
  feed: StreamFeed,
  ShardId: string,
  signal: AbortSignal,
): Promise<void> => {
  const oldest = () => oldestRecord(client, feed.streamArn, ShardId)
  let iterator = await oldest()
  while (iterator && !signal.aborted) {
    const { Records = [], NextShardIterator } = await client
      .send(new GetRecordsCommand({ ShardIterator: iterator, Limit: feed.batchSize }))
      .catch(async (error): Promise<Partial<GetRecordsCommandOutput>> => {
        if (!(error instanceof TrimmedDataAccessException)) throw error
        return { NextShardIterator: await oldest() }
      })
    const wanted = Records.map(recordOf).filter((record) => isWanted(record, feed.entities))
    feed.onArrived(wanted)
    await deliver(feed, wanted)
    iterator = NextShardIterator
    if (Records.length === 0) await pause(IDLE_MS)
  }
}

const isWanted = ({ dynamodb }: DynamoDBRecord, entities: readonly string[]): boolean =>
  entities.includes(dynamodb?.NewImage?.entity?.S ?? '')

/** From the first record that failed on, the batch comes again. */
const deliver = async (feed: StreamFeed, records: DynamoDBRecord[]): Promise<void> => {
  let left = records
  for (let failures = 0; left.length > 0; ) {
    if (failures > RETRIES_MAX) return feed.onLost(left)
    if (failures > 0) await pause(IDLE_MS * failures)
    const done = await doneCount(feed, fitting(left))
    left = left.slice(done)
    failures = done > 0 ? 0 : failures + 1
  }
}

/** The records that fit into one invocation, as Lambda batches them; DynamoDB Local returns more. */
const fitting = (records: DynamoDBRecord[]): DynamoDBRecord[] => {
  let bytes = 0
  const over = records.findIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1
    return bytes > BATCH_MAX_BYTES
  })
  return over === -1 ? records : records.slice(0, Math.max(over, 1))
}

const doneCount = async (feed: StreamFeed, records: DynamoDBRecord[]): Promise<number> => {
  try {
    const reply = ((await feed.invoke({ Records: records })) ?? {}) as DynamoDBBatchResponse
    const failed = new Set(
      reply.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier) ?? [],
    )
    const first = records.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''))
    return first === -1 ? records.length : first
  } catch {
    return 0
  }
}

const recordOf = ({ eventID, eventName, dynamodb }: _Record): DynamoDBRecord =>
  ({
    eventID,
    eventName,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: process.env.AWS_REGION,
    dynamodb: {
      ...dynamodb,
      ApproximateCreationDateTime: (dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0) / 1000,
    },
  }) as DynamoDBRecord
