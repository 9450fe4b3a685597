import { setTimeout as pause } from 'node:timers/promises'
import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams'
import type { DynamoDBRecord } from 'aws-lambda'

/** Reads the stream of a table from its start, each shard in order. */

export type StreamSource = {
  streamArn: string
  takeRecord: (record: DynamoDBRecord) => void
  /** Called when the stream fails; the reader continues. */
  onFault: (error: unknown) => void
}

const IDLE_MS = 40
const REDISCOVER_MS = 2_000

/** @returns a function that stops the reader */
export const pollStream = (
  endpoint: string,
  { streamArn: StreamArn, takeRecord, onFault }: StreamSource,
): (() => Promise<void>) => {
  const client = new DynamoDBStreamsClient({ endpoint })
  const stopping = new AbortController()
  const { signal } = stopping
  const shards = new Map<string, Promise<void>>()

  const oldest = async (ShardId: string): Promise<string | undefined> => {
    const { ShardIterator } = await client.send(
      new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
    )
    return ShardIterator
  }

  const readShard = async (id: string): Promise<void> => {
    let iterator = await oldest(id)
    while (iterator && !signal.aborted) {
      const { Records = [], NextShardIterator } = await client
        .send(new GetRecordsCommand({ ShardIterator: iterator }))
        .catch(async (error): Promise<Partial<GetRecordsCommandOutput>> => {
          // DynamoDB Local numbers the records of all tables in one sequence, so it reports an
          // iterator of an empty stream as trimmed.
          if (!(error instanceof TrimmedDataAccessException)) throw error
          return { NextShardIterator: await oldest(id) }
        })
      Records.map(recordOf).forEach(takeRecord)
      iterator = NextShardIterator
      if (Records.length === 0) await pause(IDLE_MS)
    }
  }

  const shardsNow = async () => {
    try {
      const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }))
      return StreamDescription?.Shards ?? []
    } catch (error) {
      onFault(error)
      return []
    }
  }

  const discover = async (): Promise<void> => {
    while (!signal.aborted) {
      for (const { ShardId = '', ParentShardId = '' } of await shardsNow()) {
        if (shards.has(ShardId)) continue
        // The records of a child shard follow those of its parent.
        const parent = shards.get(ParentShardId) ?? Promise.resolve()
        shards.set(
          ShardId,
          parent
            .then(() => readShard(ShardId))
            .catch((error) => {
              // The next discovery reads the shard from its start; consumers deduplicate.
              shards.delete(ShardId)
              if (!signal.aborted) onFault(error)
            }),
        )
      }
      await pause(REDISCOVER_MS, undefined, { signal }).catch(() => undefined)
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

const recordOf = ({ dynamodb, ...record }: _Record): DynamoDBRecord =>
  ({
    ...record,
    dynamodb: {
      ...dynamodb,
      ApproximateCreationDateTime: (dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0) / 1000,
    },
  }) as DynamoDBRecord
