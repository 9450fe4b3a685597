import type { Chance } from './chance.ts'
import { type Operation, TABLE } from './operation.ts'

/** What else the store writes, and all that it reads: feeds, windows, deliveries, lists. */

const TableName = TABLE
const TIMES = ['2026-11-21T10:00:00.000Z', '2026-11-21T10:00:01.000Z', '2026-11-22T00:00:00.000Z']
const isNew = { ConditionExpression: 'attribute_not_exists(pk)' }

const update = (input: object): Operation => ({
  command: 'UpdateCommand',
  input: { TableName, ...input },
})
const put = (input: object): Operation => ({
  command: 'PutCommand',
  input: { TableName, ...input },
})
const query = (input: object): Operation => ({
  command: 'QueryCommand',
  input: { TableName, ...input },
})

const feedKey = (chance: Chance) => ({ pk: 'FEED#p', sk: `000000000${chance.below(4)}` })
const debitPk = (chance: Chance): string => `DEBIT#R${chance.below(3)}`

const deliveryItem = (chance: Chance) => ({
  pk: debitPk(chance),
  sk: `DELIVERY#0${chance.below(2)}`,
  entity: 'delivery',
  status: chance.pick(['pending', 'delivered']),
  attemptCount: chance.below(3),
  attemptsMax: 3,
  nextAttemptAt: chance.once(2) ? null : chance.pick(TIMES),
  last: chance.once(2)
    ? null
    : { number: 1, at: TIMES[0], outcome: { kind: 'answered', http: 200 } },
  ...(chance.once(2) ? { byStatus: 'p#undelivered', byTime: `${chance.pick(TIMES)}#R1#1` } : {}),
  ...(chance.once(2) ? { work: 'WATCH#0', due: chance.pick(TIMES) } : {}),
})

const asRead = (chance: Chance) => ({
  ConditionExpression:
    'attemptCount = :count AND #status = :status AND attemptsMax = :max' +
    ' AND nextAttemptAt = :next AND attemptsMax >= :attempts',
  ExpressionAttributeNames: { '#status': 'status' },
  ExpressionAttributeValues: {
    ':count': chance.below(3),
    ':status': 'pending',
    ':max': 3,
    ':next': chance.once(2) ? null : chance.pick(TIMES),
    ':attempts': chance.below(4),
  },
})

const again = (chance: Chance) => {
  const isLater = chance.once(2)
  return {
    Key: { pk: debitPk(chance), sk: chance.pick(['DEBIT', 'DELIVERY#00']) },
    UpdateExpression: isLater ? 'SET due = :next' : 'REMOVE #work, due',
    ConditionExpression: 'due = :due',
    ...(isLater ? {} : { ExpressionAttributeNames: { '#work': 'work' } }),
    ExpressionAttributeValues: {
      ':due': chance.pick(TIMES),
      ...(isLater ? { ':next': chance.pick(TIMES) } : {}),
    },
  }
}

const list = (chance: Chance) => {
  const isBefore = chance.once(2)
  return {
    IndexName: 'by-status',
    KeyConditionExpression: isBefore ? '#pk = :pk AND byTime < :before' : '#pk = :pk',
    ExpressionAttributeNames: { '#pk': 'byStatus' },
    ExpressionAttributeValues: {
      ':pk': chance.pick(['p#pending', 'p#completed', 'p#settlements', 'p#undelivered']),
      ...(isBefore ? { ':before': chance.pick(TIMES) } : {}),
    },
    ScanIndexForward: false,
    Limit: 1 + chance.below(3),
  }
}

const due = (chance: Chance) => ({
  IndexName: 'work',
  KeyConditionExpression: '#work = :shard AND due <= :now',
  ExpressionAttributeNames: { '#work': 'work' },
  ExpressionAttributeValues: {
    ':shard': chance.pick(['WATCH#0', 'WATCH#1', 'SETTLE#p', 'PAY']),
    ':now': chance.pick(TIMES),
  },
  Limit: 1 + chance.below(3),
})

const KINDS: readonly ((chance: Chance) => Operation)[] = [
  (chance) =>
    update({
      Key: { pk: `WINDOW#p#${chance.below(2)}`, sk: 'WINDOW' },
      UpdateExpression: 'SET expiresAt = :expires ADD requests :one',
      ExpressionAttributeValues: { ':one': 1, ':expires': 1_000 + chance.below(2) },
      ReturnValues: 'UPDATED_NEW',
    }),
  (chance) =>
    update({
      Key: feedKey(chance),
      UpdateExpression: 'SET entries = list_append(entries, :entries), lastAt = :at',
      ConditionExpression: 'size(entries) <= :room',
      ExpressionAttributeValues: {
        ':entries': ['R1#1', 'R2#1'].slice(chance.below(2)),
        ':room': 3,
        ':at': chance.pick(TIMES),
      },
    }),
  (chance) => put({ Item: { ...feedKey(chance), entries: ['R0#1'], lastAt: TIMES[0] }, ...isNew }),
  (chance) =>
    update({
      Key: feedKey(chance),
      UpdateExpression: 'SET expiresAt = :expires',
      ExpressionAttributeValues: { ':expires': 1 },
    }),
  (chance) =>
    query({
      KeyConditionExpression: 'pk = :pk AND sk >= :from',
      FilterExpression: 'lastAt >= :oldest',
      ExpressionAttributeValues: {
        ':pk': 'FEED#p',
        ':from': feedKey(chance).sk,
        ':oldest': chance.pick(TIMES),
      },
      ConsistentRead: true,
      Limit: 1 + chance.below(4),
    }),
  (chance) =>
    query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': debitPk(chance), ':prefix': 'DELIVERY#' },
      ConsistentRead: true,
      ScanIndexForward: chance.once(2),
      Limit: 1 + chance.below(3),
    }),
  (chance) => put({ Item: deliveryItem(chance), ...(chance.once(2) ? isNew : asRead(chance)) }),
  (chance) => put({ Item: deliveryItem(chance) }),
  (chance) => update(again(chance)),
  (chance) => query(list(chance)),
  (chance) => query(due(chance)),
  (chance) => ({
    command: 'DeleteCommand',
    input: {
      TableName,
      Key: { pk: debitPk(chance), sk: chance.pick(['DEBIT', 'DELIVERY#00']) },
      ConditionExpression: 'attribute_exists(pk)',
    },
  }),
  (chance) =>
    update({
      Key: { pk: debitPk(chance), sk: 'DELIVERY#01' },
      UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :at)',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':at': chance.pick(TIMES) },
    }),
  (chance) => ({
    command: 'GetCommand',
    input: { TableName, Key: { pk: debitPk(chance), sk: 'DEBIT' }, ConsistentRead: true },
  }),
  (chance) => ({
    command: 'BatchGetCommand',
    input: {
      RequestItems: {
        [TABLE]: {
          Keys: chance
            .some(['R0', 'R1', 'R2'], 2)
            .map((one) => ({ pk: `DEBIT#${one}`, sk: 'DEBIT' })),
          ConsistentRead: true,
        },
      },
    },
  }),
]

export const collectionOperation = (chance: Chance): Operation => chance.pick(KINDS)(chance)
