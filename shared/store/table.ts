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
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { clientLimits } from '../client-limits.ts'
import { environment, pause } from '../runtime.ts'
import { withConflictRetries, withoutJitter } from './conflicts.ts'
import { type KeySpan, keysWithin } from './key-span.ts'
import type { Collection, Key } from './keys.ts'

/** The client of the one table, and the reads and writes that all stores share. */

const client = new DynamoDBClient(clientLimits.table)

// A quarter of a call's CPU time: the client has no logger, nobody reads the user agent, and
// DynamoDB takes no part in Lambda's detection of loops.
for (const name of ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware']) {
  client.middlewareStack.remove(name)
}

export const table = DynamoDBDocumentClient.from(client, {
  marshallOptions: { removeUndefinedValues: true },
})

export const tableName = (): string => environment.tableName

export type Item = Record<string, unknown>
export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** Returns the epoch seconds after which DynamoDB may delete an item. */
export const expiresAt = (at: Date, seconds: number) => Math.floor(at.getTime() / 1000) + seconds

/** Reads one item, by default strongly consistent. */
export const read = async <T>(
  Key: Key,
  { isConsistent: ConsistentRead = true }: { isConsistent?: boolean } = {},
): Promise<T | undefined> => {
  const { Item } = await table.send(new GetCommand({ TableName: tableName(), Key, ConsistentRead }))
  return Item as T | undefined
}

const BATCH_MAX = 100

// DynamoDB leaves keys unread when a reply would be too large, or when a partition is throttled.
const PAUSE_FIRST_MS = 25
const PAUSE_CAP_MS = 1_000
/** Consecutive reads that return no item. Their pauses take less than three seconds. */
const EMPTY_READS_MAX = 8

/**
 * Reads many items, each once and by default strongly consistent, in the order of the keys. Retries
 * unread keys with exponential backoff. The pauses have no jitter, so that a run can be replayed.
 * @throws ProvisionedThroughputExceededException after eight consecutive reads without an item
 */
export const readMany = async (
  keys: readonly Key[],
  { isConsistent: ConsistentRead = true }: { isConsistent?: boolean } = {},
): Promise<Item[]> => {
  const items = new Map<string, Item>()
  // DynamoDB rejects a batch that names a key twice.
  const named = new Map(keys.map((key) => [nameOf(key), key]))
  const unique = [...named.values()]
  for (let index = 0; index < unique.length; index += BATCH_MAX) {
    let Keys = unique.slice(index, index + BATCH_MAX)
    let emptyReads = 0
    while (Keys.length > 0) {
      const { Responses, UnprocessedKeys } = await table.send(
        new BatchGetCommand({ RequestItems: { [tableName()]: { Keys, ConsistentRead } } }),
      )
      for (const item of Responses?.[tableName()] ?? []) items.set(nameOf(item), item)
      const unread = (UnprocessedKeys?.[tableName()]?.Keys ?? []) as Key[]
      emptyReads = unread.length < Keys.length ? 0 : emptyReads + 1
      Keys = unread
      if (emptyReads === EMPTY_READS_MAX) throw throttled(unread.length)
      if (unread.length > 0) await pause(Math.min(PAUSE_FIRST_MS * 2 ** emptyReads, PAUSE_CAP_MS))
    }
  }
  return [...named.keys()].map((name) => items.get(name)).filter((item) => item !== undefined)
}

/** Returns the key of an item as a text. */
export const nameOf = ({ pk, sk }: Item): string => `${pk} ${sk}`

const throttled = (count: number): Error =>
  new ProvisionedThroughputExceededException({
    message: `${count} items were left unread ${EMPTY_READS_MAX} times`,
    $metadata: {},
  })

/** Reads and parses one item, strongly consistent. */
export const find = async <T>(key: Key, parse: (item: Item) => T | Promise<T>) => {
  const item = await read<Item>(key)
  return item && parse(item)
}

export const isNew = { ConditionExpression: 'attribute_not_exists(pk)' }

export const putWrite = (Item: Item, condition: object = {}) => ({
  Put: { TableName: tableName(), Item, ...condition },
})

type UpdateExpression = Omit<UpdateCommandInput, 'TableName' | 'Key'> & { UpdateExpression: string }

export const updateWrite = (Key: Key, expression: UpdateExpression) => ({
  Update: { TableName: tableName(), Key, ...expression },
})

export const hasVersion = (version: number) => ({
  ConditionExpression: '#version = :previous',
  ExpressionAttributeNames: { '#version': 'version' },
  ExpressionAttributeValues: { ':previous': version },
})

/** Retries a plain write that a transaction on the same item rejects, although its condition is met. */
const send = (command: PutCommand | UpdateCommand | DeleteCommand): Promise<boolean> =>
  conditionMet(withConflictRetries(() => table.send(command as PutCommand), withoutJitter))

/** Writes one item. Returns false when the condition was not met. */
export const putIf = (Item: Item, condition: object): Promise<boolean> =>
  send(new PutCommand(putWrite(Item, condition).Put))

/** Updates one item. Returns false when the condition was not met. */
export const updateIf = (key: Key, expression: UpdateExpression): Promise<boolean> =>
  send(new UpdateCommand(updateWrite(key, expression).Update))

export const put = async (key: Key, entity: string, members: object): Promise<void> => {
  await putIf({ ...key, entity, ...members }, {})
}

const exists = { ConditionExpression: 'attribute_exists(pk)' }

/** Removes one item. Returns false when the condition was not met; by default, that it exists. */
export const remove = (Key: Key, condition: object = exists): Promise<boolean> =>
  send(new DeleteCommand({ TableName: tableName(), Key, ...condition }))

/** Reads a whole item collection, strongly consistent. */
export const readCollection = (collection: Collection) => queryAll(collectionQuery(collection))

const partitionQuery = (name: string, value: string, condition?: string, values: Item = {}) => ({
  KeyConditionExpression: [`${name} = :partition`, ...(condition ? [condition] : [])].join(' AND '),
  ExpressionAttributeValues: { ':partition': value, ...values },
})

/** Queries a list in the index by-status, which may lag; `condition` is on `byTime`. */
export const statusQuery = (list: string, condition?: string, values?: Item) => ({
  IndexName: 'by-status',
  ...partitionQuery('byStatus', list, condition, values),
})

/** Queries a list in the index by-customer, which may lag; `condition` is on `byTime`. */
export const customerQuery = (list: string, condition?: string, values?: Item) => ({
  IndexName: 'by-customer',
  ...partitionQuery('byCustomer', list, condition, values),
})

/** `before` is exclusive. */
export type Span = { from: Date; before: Date }

export const spanQuery = (list: string, span: KeySpan) =>
  statusQuery(list, ...keysWithin('byTime', span))

/** Returns the query of a partition of the table, strongly consistent; `condition` is on `sk`. */
export const itemsQuery = (pk: string, condition?: string, values?: Item) => ({
  ...partitionQuery('pk', pk, condition, values),
  ConsistentRead: true,
})

/** Returns the query of a partition whose sort keys begin with a time, strongly consistent. */
export const timesQuery = (pk: string, span: KeySpan) => itemsQuery(pk, ...keysWithin('sk', span))

/** Returns the query of an item collection, strongly consistent. */
export const collectionQuery = ({ pk, prefix }: Collection) =>
  prefix ? itemsQuery(pk, 'begins_with(sk, :prefix)', { ':prefix': prefix }) : itemsQuery(pk)

export type QueryInput = Omit<QueryCommandInput, 'TableName'>

export type Examined = {
  items: Item[]
  count: number
  /** The last entry that the query examined, if others can follow. */
  end: Item | undefined
}

/** Runs a query call by call, over at most `max` entries. `Limit` applies to each call. */
export async function* examine(
  input: QueryInput,
  max = Number.POSITIVE_INFINITY,
): AsyncGenerator<Examined> {
  let remaining = max
  let { ExclusiveStartKey } = input
  do {
    const Limit = Math.min(remaining, input.Limit ?? Number.POSITIVE_INFINITY)
    const { Items, Count, ScannedCount, LastEvaluatedKey } = await table.send(
      new QueryCommand({
        TableName: tableName(),
        ...input,
        ...(Number.isFinite(Limit) && { Limit }),
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      }),
    )
    yield { items: Items ?? [], count: Count ?? 0, end: LastEvaluatedKey }
    remaining -= ScannedCount ?? 0
    ExclusiveStartKey = LastEvaluatedKey
  } while (ExclusiveStartKey && remaining > 0)
}

export async function* queryPages(input: QueryInput): AsyncGenerator<Item[]> {
  for await (const { items } of examine(input)) yield items
}

/** Reads all pages of a query, at most `Limit` items if that is set. */
export const queryAll = async (input: QueryInput): Promise<Item[]> => {
  const items: Item[] = []
  const { Limit = Number.POSITIVE_INFINITY } = input
  for await (const page of queryPages(input)) {
    items.push(...page)
    if (items.length >= Limit) break
  }
  return items.slice(0, Limit)
}

/** Returns false when the condition of a write was not met. */
const conditionMet = async (write: Promise<unknown>): Promise<boolean> => {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false
    throw error
  }
}

/** Returns the members of an item without its keys and the attributes of the indexes. */
export const withoutKeys = <T>(item: Item): T => {
  const { pk, sk, entity, byStatus, byTime, work, due, ...members } = item
  return members as T
}

export const keyOf = ({ pk, sk }: Item): Key => ({ pk: String(pk), sk: String(sk) })
