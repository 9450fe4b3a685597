import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  ProvisionedThroughputExceededException,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { environment, real } from '../runtime.ts'
import type { Key } from './keys.ts'

/** The one table: its client, and the reads and writes that every store is made of. */

// Bounds for one call, far inside the handler's own deadline: a lost connection costs a second
// try, never the whole request.
const CONNECT_MS = 1_000
const REQUEST_MS = 2_000

export const table = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      throwOnRequestTimeout: true,
    },
  }),
  { marshallOptions: { removeUndefinedValues: true } },
)

export const tableName = (): string => environment.tableName

/** One write of a transaction. */
export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** Epoch seconds for the attribute that lets DynamoDB clean up; nothing reads it as a truth. */
export const expiresAt = (at: Date, seconds: number): number =>
  Math.floor(at.getTime() / 1000) + seconds

/** One item, strongly consistent. */
export const read = async <T>(Key: Key): Promise<T | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key, ConsistentRead: true }),
  )
  return Item as T | undefined
}

const BATCH_MAX = 100

// DynamoDB leaves keys unread when a reply would be too large, or when a partition is throttled.
const PAUSE_FIRST_MS = 25
const PAUSE_CAP_MS = 1_000
/** Reads in a row that bring nothing: less than three seconds, far inside a handler's deadline. */
const VAIN_READS_MAX = 8

/**
 * Reads many items, each once and strongly consistent, in no order. Retries what DynamoDB left
 * unread, with exponential backoff; the pauses are fixed, so that a run can be replayed.
 * @throws ProvisionedThroughputExceededException after eight reads in a row that brought nothing
 */
export const readMany = async (wanted: readonly Key[]): Promise<Record<string, unknown>[]> => {
  const found: Record<string, unknown>[] = []
  // DynamoDB refuses a key that is named twice.
  const keys = [...new Map(wanted.map((key) => [`${key.pk} ${key.sk}`, key])).values()]
  for (let n = 0; n < keys.length; n += BATCH_MAX) {
    let Keys = keys.slice(n, n + BATCH_MAX)
    let vain = 0
    while (Keys.length > 0) {
      const { Responses, UnprocessedKeys } = await table.send(
        new BatchGetCommand({ RequestItems: { [tableName()]: { Keys, ConsistentRead: true } } }),
      )
      found.push(...(Responses?.[tableName()] ?? []))
      const unread = (UnprocessedKeys?.[tableName()]?.Keys ?? []) as Key[]
      vain = unread.length < Keys.length ? 0 : vain + 1
      Keys = unread
      if (vain === VAIN_READS_MAX) throw throttled(unread.length)
      if (unread.length > 0) await real.pause(Math.min(PAUSE_FIRST_MS * 2 ** vain, PAUSE_CAP_MS))
    }
  }
  return found
}

const throttled = (count: number): Error =>
  new ProvisionedThroughputExceededException({
    message: `${count} items were left unread ${VAIN_READS_MAX} times`,
    $metadata: {},
  })

/** Writes one item over whatever was there. */
export const put = async (key: Key, entity: string, members: object): Promise<void> => {
  await table.send(new PutCommand({ TableName: tableName(), Item: { ...key, entity, ...members } }))
}

/** @returns false when there was nothing to remove */
export const remove = (Key: Key): Promise<boolean> =>
  conditionMet(
    table.send(
      new DeleteCommand({
        TableName: tableName(),
        Key,
        ConditionExpression: 'attribute_exists(pk)',
      }),
    ),
  )

/** One item collection, whole and strongly consistent. */
export const readCollection = async (pk: string, prefix = ''): Promise<Record<string, unknown>[]> =>
  queryAll(collectionQuery(pk, prefix))

/** Asks for the items of one collection, strongly consistent. */
export const collectionQuery = (pk: string, prefix = '') => ({
  KeyConditionExpression: prefix ? 'pk = :pk AND begins_with(sk, :prefix)' : 'pk = :pk',
  ExpressionAttributeValues: { ':pk': pk, ...(prefix ? { ':prefix': prefix } : {}) },
  ConsistentRead: true,
})

type QueryInput = Omit<QueryCommandInput, 'TableName' | 'ExclusiveStartKey'>

/** What a query finds, page after page. */
export async function* queryPages(input: QueryInput): AsyncGenerator<Record<string, unknown>[]> {
  let ExclusiveStartKey: Record<string, unknown> | undefined
  do {
    const { Items = [], LastEvaluatedKey } = await table.send(
      new QueryCommand({
        TableName: tableName(),
        ...input,
        ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}),
      }),
    )
    yield Items
    ExclusiveStartKey = LastEvaluatedKey
  } while (ExclusiveStartKey)
}

/** The same in one list; at most `Limit` items where that is given. */
export const queryAll = async (input: QueryInput): Promise<Record<string, unknown>[]> => {
  const found: Record<string, unknown>[] = []
  const { Limit = Number.POSITIVE_INFINITY } = input
  for await (const page of queryPages(input)) {
    found.push(...page)
    if (found.length >= Limit) break
  }
  return found.slice(0, Limit)
}

/** @returns false when the condition of the write did not hold */
export const conditionMet = async (write: Promise<unknown>): Promise<boolean> => {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}

/** What an item says, without where it is kept. */
export const withoutKeys = <T>({ pk, sk, entity, ...rest }: Record<string, unknown>): T => rest as T
