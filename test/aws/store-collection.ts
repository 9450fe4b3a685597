import type { Random } from './random.ts'
import { type Operation, TABLE } from './random-operation.ts'

/** Generates the store's other writes, and its reads. */

export const TIMES = [
  '2026-11-21T10:00:00.000Z',
  '2026-11-21T10:00:01.000Z',
  '2026-11-22T00:00:00.000Z',
]
export const isNew = { ConditionExpression: 'attribute_not_exists(pk)' }

const operation = (command: string, input: object): Operation => ({
  command,
  input: { TableName: TABLE, ...input },
})
const update = (input: object) => operation('UpdateCommand', input)
export const put = (input: object) => operation('PutCommand', input)
export const remove = (input: object) => operation('DeleteCommand', input)
const query = (input: object) => operation('QueryCommand', input)

const feedKey = (random: Random) => ({ pk: 'FEED#p', sk: `000000000${random.below(4)}` })
const debitPk = (random: Random): string => `DEBIT#R${random.below(3)}`

const deliveryItem = (random: Random) => ({
  pk: debitPk(random),
  sk: `DELIVERY#0${random.below(2)}`,
  entity: 'delivery',
  status: random.pick(['pending', 'delivered']),
  attemptCount: random.below(3),
  attemptsMax: 3,
  nextAttemptAt: random.once(2) ? null : random.pick(TIMES),
  last: random.once(2)
    ? null
    : { number: 1, at: TIMES[0], outcome: { kind: 'answered', http: 200 } },
  ...(random.once(2) ? { byStatus: 'p#undelivered', byTime: `${random.pick(TIMES)}#R1#1` } : {}),
  ...(random.once(2) ? { work: 'WATCH#0', due: random.pick(TIMES) } : {}),
})

const asRead = (random: Random) => ({
  ConditionExpression:
    'attemptCount = :count AND #status = :status AND attemptsMax = :max' +
    ' AND nextAttemptAt = :next AND attemptsMax >= :attempts',
  ExpressionAttributeNames: { '#status': 'status' },
  ExpressionAttributeValues: {
    ':count': random.below(3),
    ':status': 'pending',
    ':max': 3,
    ':next': random.once(2) ? null : random.pick(TIMES),
    ':attempts': random.below(4),
  },
})

const again = (random: Random) => {
  const isLater = random.once(2)
  return {
    Key: { pk: debitPk(random), sk: random.pick(['DEBIT', 'DELIVERY#00']) },
    UpdateExpression: isLater ? 'SET due = :next' : 'REMOVE #work, due',
    ConditionExpression: 'due = :due',
    ...(isLater ? {} : { ExpressionAttributeNames: { '#work': 'work' } }),
    ExpressionAttributeValues: {
      ':due': random.pick(TIMES),
      ...(isLater ? { ':next': random.pick(TIMES) } : {}),
    },
  }
}

const list = (random: Random) => {
  const isBefore = random.once(2)
  return {
    IndexName: 'by-status',
    KeyConditionExpression: isBefore ? '#pk = :pk AND byTime < :before' : '#pk = :pk',
    ExpressionAttributeNames: { '#pk': 'byStatus' },
    ExpressionAttributeValues: {
      ':pk': random.pick(['p#pending', 'p#completed', 'p#settlements', 'p#undelivered']),
      ...(isBefore ? { ':before': random.pick(TIMES) } : {}),
    },
    ScanIndexForward: false,
    Limit: 1 + random.below(3),
  }
}

const due = (random: Random) => ({
  IndexName: 'work',
  KeyConditionExpression: '#work = :shard AND due <= :now',
  ExpressionAttributeNames: { '#work': 'work' },
  ExpressionAttributeValues: {
    ':shard': random.pick(['WATCH#0', 'WATCH#1', 'SETTLE#p', 'PAY']),
    ':now': random.pick(TIMES),
  },
  Limit: 1 + random.below(3),
})

const KINDS: readonly ((random: Random) => Operation)[] = [
  (random) =>
    update({
      Key: { pk: `WINDOW#p#${random.below(2)}`, sk: 'WINDOW' },
      UpdateExpression: 'SET expiresAt = :expires ADD requests :one',
      ExpressionAttributeValues: { ':one': 1, ':expires': 1_000 + random.below(2) },
      ReturnValues: 'UPDATED_NEW',
    }),
  (random) =>
    update({
      Key: feedKey(random),
      UpdateExpression: 'SET entries = list_append(entries, :entries), lastAt = :at',
      ConditionExpression: 'size(entries) <= :room',
      ExpressionAttributeValues: {
        ':entries': ['R1#1', 'R2#1'].slice(random.below(2)),
        ':room': 3,
        ':at': random.pick(TIMES),
      },
    }),
  (random) => put({ Item: { ...feedKey(random), entries: ['R0#1'], lastAt: TIMES[0] }, ...isNew }),
  (random) =>
    update({
      Key: feedKey(random),
      UpdateExpression: 'SET expiresAt = :expires',
      ExpressionAttributeValues: { ':expires': 1 },
    }),
  (random) =>
    query({
      KeyConditionExpression: 'pk = :pk AND sk >= :from',
      FilterExpression: 'lastAt >= :oldest',
      ExpressionAttributeValues: {
        ':pk': 'FEED#p',
        ':from': feedKey(random).sk,
        ':oldest': random.pick(TIMES),
      },
      ConsistentRead: true,
      Limit: 1 + random.below(4),
    }),
  (random) =>
    query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': debitPk(random), ':prefix': 'DELIVERY#' },
      ConsistentRead: true,
      ScanIndexForward: random.once(2),
      Limit: 1 + random.below(3),
    }),
  (random) => put({ Item: deliveryItem(random), ...(random.once(2) ? isNew : asRead(random)) }),
  (random) => put({ Item: deliveryItem(random) }),
  (random) => update(again(random)),
  (random) => query(list(random)),
  (random) => query(due(random)),
  (random) =>
    remove({
      Key: { pk: debitPk(random), sk: random.pick(['DEBIT', 'DELIVERY#00']) },
      ConditionExpression: 'attribute_exists(pk)',
    }),
  (random) =>
    update({
      Key: { pk: debitPk(random), sk: 'DELIVERY#01' },
      UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':at': random.pick(TIMES) },
    }),
  (random) => {
    const Key = { pk: debitPk(random), sk: 'DEBIT' }
    return operation('GetCommand', { Key, ConsistentRead: true })
  },
  (random) => {
    const references = random.some(['R0', 'R1', 'R2'], 2)
    const Keys = references.map((reference) => ({ pk: `DEBIT#${reference}`, sk: 'DEBIT' }))
    const input = { RequestItems: { [TABLE]: { Keys, ConsistentRead: true } } }
    return { command: 'BatchGetCommand', input }
  },
]

export const collectionOperation = (random: Random): Operation => random.pick(KINDS)(random)
