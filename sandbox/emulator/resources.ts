import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { CreateQueueCommand, DeleteQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { deadLetters, queueRows } from '../../infra/definitions/jobs.ts'
import { keyAttributes, tableDefinition } from '../../infra/definitions/table.ts'
import { isFifo } from '../../shared/queues/messages.ts'

const keySchema = (keys: { partitionKey: string; sortKey: string }): KeySchemaElement[] => [
  { AttributeName: keys.partitionKey, KeyType: 'HASH' },
  { AttributeName: keys.sortKey, KeyType: 'RANGE' },
]

/** Creates the table as the stack does. @returns the ARN of its stream */
export const createTable = async (endpoint: string, tableName: string): Promise<string> => {
  const client = new DynamoDBClient({ endpoint })
  const { partitionKey, sortKey, timeToLive, indexes } = tableDefinition
  try {
    const { TableDescription } = await client.send(
      new CreateTableCommand({
        TableName: tableName,
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

export const removeTable = async (endpoint: string, TableName: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint })
  await client.send(new DeleteTableCommand({ TableName }))
  client.destroy()
}

/** @param prefix of the queue names in a shared emulator */
export const createQueues = async (endpoint: string, region: string, prefix = '') => {
  const sqs = new SQSClient({ endpoint, region })
  const accounts = new Map<string, string>()

  const create = async (name: string, Attributes: Record<string, string>): Promise<void> => {
    const { QueueUrl = '' } = await sqs.send(
      new CreateQueueCommand({ QueueName: `${prefix}${name}`, Attributes }),
    )
    accounts.set(name, new URL(QueueUrl).pathname.split('/').at(-2) ?? '')
  }
  const address = (name: string): string => `${accounts.get(name)}/${prefix}${name}`
  // The emulator's own URLs may contain a host that only its containers can resolve.
  const url = (name: string): string => `${endpoint.replace(/\/$/, '')}/${address(name)}`
  const arn = (name: string): string => `arn:aws:sqs:${region}:${address(name).replace('/', ':')}`

  for (const row of queueRows) {
    const deadLetterQueue = deadLetters(row.name)
    const fifo = isFifo(row.name) && { FifoQueue: 'true' }
    await create(deadLetterQueue, {
      ...fifo,
      MessageRetentionPeriod: String(row.deadLetterRetentionSeconds),
    })
    await create(row.name, {
      ...(fifo && { ...fifo, ContentBasedDeduplication: 'true' }),
      VisibilityTimeout: String(row.visibilitySeconds),
      MessageRetentionPeriod: String(row.retentionSeconds),
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: arn(deadLetterQueue),
        maxReceiveCount: String(row.maxReceiveCount),
      }),
    })
  }
  const remove = async (): Promise<void> => {
    await Promise.all(
      [...accounts.keys()].map((name) => sqs.send(new DeleteQueueCommand({ QueueUrl: url(name) }))),
    )
  }
  return { sqs, url, arn, remove, close: async () => sqs.destroy() }
}

/** Creates a bucket. @returns its removal */
export const createBucket = async (endpoint: string, region: string, Bucket: string) => {
  const s3 = new S3Client({ endpoint, region, forcePathStyle: true })
  await s3.send(new CreateBucketCommand({ Bucket }))
  return async (): Promise<void> => {
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
      const Objects = Contents.map(({ Key }) => ({ Key }))
      if (Objects.length > 0) {
        await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
      }
    }
    await s3.send(new DeleteBucketCommand({ Bucket }))
    s3.destroy()
  }
}
