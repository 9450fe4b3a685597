import { randomBytes } from 'node:crypto'
import { createBucket, removeBucket } from './bucket.ts'
import type { Print } from './console.ts'
import { startDynamoDbLocal } from './dynamodb-local.ts'
import { assertAnswers, type Endpoints } from './endpoints.ts'
import { startFauxqs } from './fauxqs.ts'
import { createQueues, type Queues } from './queues.ts'
import { createTable, removeTable } from './table.ts'

export const REGION = 'eu-west-1'
export const NAME = 'debit-collection'

/** What is to be undone in the end, the last first. */
type Stops = (() => Promise<unknown>)[]

type Given = {
  /** A DynamoDB that runs already; absent: DynamoDB Local is started. */
  dynamoDbEndpoint?: string
  tableName?: string
}

/** What the stacks have, and where. */
export type Backends = {
  endpoints: Endpoints
  table: string
  streamArn: string
  bucket: string
  queues: Queues
}

/** On parts of its own, which go when it goes. */
export const startLocalBackends = async (
  { dynamoDbEndpoint, tableName: table = NAME }: Given,
  stops: Stops,
): Promise<Backends> => {
  const fauxqs = await startFauxqs(REGION)
  stops.push(fauxqs.stop)
  const local = dynamoDbEndpoint ? undefined : await startDynamoDbLocal()
  if (local) stops.push(local.stop)
  const dynamoDb = dynamoDbEndpoint ?? local?.endpoint ?? ''
  const bucket = `${NAME}-reports`
  await createBucket(fauxqs.endpoint, REGION, bucket)
  const queues = await createQueues(fauxqs.endpoint, REGION)
  stops.push(queues.close)
  return {
    endpoints: { dynamoDb, sqs: fauxqs.endpoint, s3: fauxqs.endpoint },
    table,
    streamArn: await createTable(dynamoDb, table),
    bucket,
    queues,
  }
}

/** Under names of its own in what runs already and will go on. */
export const connectBackends = async (
  endpoints: Endpoints,
  print: Print,
  stops: Stops,
): Promise<Backends> => {
  await assertAnswers(endpoints, REGION)
  const table = `${NAME}-${randomBytes(3).toString('hex')}`
  const bucket = `${table}-reports`
  const removeInTheEnd = (what: string, remove: () => Promise<void>): void => {
    // It may have ended before this sandbox, and have taken everything with it.
    stops.push(() => remove().catch(() => print(`${what} could not be removed`)))
  }
  removeInTheEnd(`The table ${table}`, () => removeTable(endpoints.dynamoDb, table))
  const streamArn = await createTable(endpoints.dynamoDb, table)
  removeInTheEnd(`The bucket ${bucket}`, () => removeBucket(endpoints.s3, REGION, bucket))
  await createBucket(endpoints.s3, REGION, bucket)
  const queues = await createQueues(endpoints.sqs, REGION, `${table}-`)
  stops.push(queues.close)
  removeInTheEnd(`The queues ${table}-*`, queues.remove)
  print(`${table}: a table at ${endpoints.dynamoDb}, with queues and a bucket named after it`)
  return { endpoints, table, streamArn, bucket, queues }
}
