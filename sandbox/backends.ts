import { randomBytes } from 'node:crypto'
import { createBucket, removeBucket } from './bucket.ts'
import type { Print } from './console.ts'
import { startDynamoDbLocal } from './dynamodb-local.ts'
import { assertReachable, type Endpoints } from './endpoints.ts'
import { startFauxqs } from './fauxqs.ts'
import { createQueues, type SandboxQueues } from './queues.ts'
import { createTable, removeTable } from './table.ts'

export const REGION = 'eu-west-1'
export const NAME = 'debit-collection'

export type LocalBackendOptions = {
  /** A running DynamoDB; without it, DynamoDB Local is started. */
  dynamoDbEndpoint?: string
  tableName?: string
}

/** Stateful resources of the stacks and their endpoints. */
export type Backends = {
  endpoints: Endpoints
  table: string
  streamArn: string
  bucket: string
  queues: SandboxQueues
}

/** Starts emulators, which stop with the sandbox. */
export const startLocalBackends = async (
  { dynamoDbEndpoint, tableName: table = NAME }: LocalBackendOptions,
  cleanup: AsyncDisposableStack,
): Promise<Backends> => {
  const fauxqs = await startFauxqs(REGION)
  cleanup.defer(fauxqs.stop)
  const local = dynamoDbEndpoint ? undefined : await startDynamoDbLocal()
  if (local) cleanup.defer(local.stop)
  const dynamoDb = dynamoDbEndpoint ?? local?.endpoint ?? ''
  const bucket = `${NAME}-reports`
  await createBucket(fauxqs.endpoint, REGION, bucket)
  const queues = await createQueues(fauxqs.endpoint, REGION)
  cleanup.defer(queues.close)
  return {
    endpoints: { dynamoDb, sqs: fauxqs.endpoint, s3: fauxqs.endpoint },
    table,
    streamArn: await createTable(dynamoDb, table),
    bucket,
    queues,
  }
}

/** Creates resources with unique names in a running emulator and removes them at the end. */
export const connectBackends = async (
  endpoints: Endpoints,
  print: Print,
  cleanup: AsyncDisposableStack,
): Promise<Backends> => {
  await assertReachable(endpoints, REGION)
  const table = `${NAME}-${randomBytes(3).toString('hex')}`
  const bucket = `${table}-reports`
  const removeAtEnd = (description: string, remove: () => Promise<void>): void => {
    // The emulator may have stopped before the sandbox.
    cleanup.defer(() => remove().catch(() => print(`${description} could not be removed`)))
  }
  removeAtEnd(`The table ${table}`, () => removeTable(endpoints.dynamoDb, table))
  const streamArn = await createTable(endpoints.dynamoDb, table)
  removeAtEnd(`The bucket ${bucket}`, () => removeBucket(endpoints.s3, REGION, bucket))
  await createBucket(endpoints.s3, REGION, bucket)
  const queues = await createQueues(endpoints.sqs, REGION, `${table}-`)
  cleanup.defer(queues.close)
  removeAtEnd(`The queues ${table}-*`, queues.remove)
  print(`${table}: a table at ${endpoints.dynamoDb}, with queues and a bucket named after it`)
  return { endpoints, table, streamArn, bucket, queues }
}
