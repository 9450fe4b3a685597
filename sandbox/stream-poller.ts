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

/** Reads the table's stream as Lambda does: filters each shard in order, invokes and retries. */

export type StreamSource = {
  streamArn: string
  /** Entities whose changes the function receives. */
  entities: readonly string[]
  batchSize: number
  invoke: (event: DynamoDBStreamEvent) => Promise<unknown>
  /** Called once per record, before the function. */
  onRecords: (records: DynamoDBRecord[]) => void
  /** Called when the stream fails; the reader continues. */
  onFault: (error: unknown) => void
  /** Called for a batch without retries left, which Lambda sends to the on-failure queue. */
  onLost: (records: DynamoDBRecord[]) => void
}

const IDLE_MS = 40
const REDISCOVER_MS = 2_000
const RETRIES_MAX = 10
/** Lambda's limit of 6 MB, minus the rest of the event. */
const BATCH_MAX_BYTES = 6_000_000

/** @returns a function that stops the reader and waits for batches in flight */
export const pollStream = (endpoint: string, source: StreamSource): (() => Promise<void>) => {
  const client = new DynamoDBStreamsClient({ endpoint })
  const stopping = new AbortController()
  const shards = new Map<string, Promise<void>>()

  const discover = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      for (const { ShardId = '', ParentShardId = '' } of await shardsOf(client, source)) {
        if (shards.has(ShardId)) continue
        // The records of a child shard follow those of its parent.
        const parent = shards.get(ParentShardId) ?? Promise.resolve()
        shards.set(
          ShardId,
          parent
            .then(() => readShard(client, source, ShardId, stopping.signal))
            .catch((error) => {
              // The next discovery reads the shard from its start; consumers deduplicate.
              shards.delete(ShardId)
              if (!stopping.signal.aborted) source.onFault(error)
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

const shardsOf = async (client: DynamoDBStreamsClient, source: StreamSource): Promise<Shard[]> => {
  try {
    const { StreamDescription } = await client.send(
      new DescribeStreamCommand({ StreamArn: source.streamArn }),
    )
    return StreamDescription?.Shards ?? []
  } catch (error) {
    source.onFault(error)
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
 * Reads a shard from its start. DynamoDB Local numbers the records of all tables in one sequence,
 * so it reports an iterator of an empty stream as trimmed; reading then restarts.
 */
const readShard = async (
  client: DynamoDBStreamsClient,
  source: StreamSource,
  ShardId: string,
  signal: AbortSignal,
): Promise<void> => {
  const oldest = () => oldestRecord(client, source.streamArn, ShardId)
  let iterator = await oldest()
  while (iterator && !signal.aborted) {
    const { Records = [], NextShardIterator } = await client
      .send(new GetRecordsCommand({ ShardIterator: iterator, Limit: source.batchSize }))
      .catch(async (error): Promise<Partial<GetRecordsCommandOutput>> => {
        if (!(error instanceof TrimmedDataAccessException)) throw error
        return { NextShardIterator: await oldest() }
      })
    const records = Records.map(recordOf).filter(({ dynamodb }) =>
      source.entities.includes(dynamodb?.NewImage?.entity?.S ?? ''),
    )
    source.onRecords(records)
    await deliver(source, records)
    iterator = NextShardIterator
    if (Records.length === 0) await pause(IDLE_MS)
  }
}

/** Invokes the function, and retries a batch from its first failed record. */
const deliver = async (source: StreamSource, records: DynamoDBRecord[]): Promise<void> => {
  let remaining = records
  for (let failures = 0; remaining.length > 0; ) {
    if (failures > RETRIES_MAX) return source.onLost(remaining)
    if (failures > 0) await pause(IDLE_MS * failures)
    const count = await invoke(source, fitting(remaining))
    remaining = remaining.slice(count)
    failures = count > 0 ? 0 : failures + 1
  }
}

/** Returns the records that fit into one invocation; DynamoDB Local may return more. */
const fitting = (records: DynamoDBRecord[]): DynamoDBRecord[] => {
  let bytes = 0
  const excess = records.findIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1
    return bytes > BATCH_MAX_BYTES
  })
  return excess === -1 ? records : records.slice(0, Math.max(excess, 1))
}

/** Returns the number of records before the first failed one. */
const invoke = async (source: StreamSource, records: DynamoDBRecord[]): Promise<number> => {
  try {
    const reply = ((await source.invoke({ Records: records })) ?? {}) as DynamoDBBatchResponse
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
