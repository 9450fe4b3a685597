import { tableDefinition } from '../../infra/definitions/table.ts'
import {
  anyCondition,
  anyMembers,
  anyProjection,
  anyUpdate,
  type Naming,
  namingOf,
} from './any-expression.ts'
import { type Operation, TABLE } from './operation.ts'
import type { Random } from './random.ts'

/** Commands of every kind about a few items, so that they meet. */

const PARTITIONS = ['p1', 'p2', 'é']
const SORTS = ['a', 'a#1', 'a#2', 'b', 'b#1', 'é', '😀', '\uffee']
const TIMES = ['t1', 't1#a', 't2', 't3', 't3']

const INDEX_KEYS: Record<string, readonly string[]> = {
  byStatus: ['s1', 's2'],
  byCustomer: ['c1', 'c2'],
  byTime: TIMES,
  work: ['w1', 'w2'],
  due: TIMES,
}

/** Everything that an entry of an index may hold. */
const INDEXED: Record<string, readonly unknown[]> = {
  ...INDEX_KEYS,
  status: ['', 'a', 'ab', 3],
  amount: [1, 2, 'a'],
}

const goodKey = (random: Random): Record<string, unknown> => ({
  pk: random.pick(PARTITIONS),
  sk: random.pick(SORTS),
})

export const anyKey = (random: Random): Record<string, unknown> => {
  const key = goodKey(random)
  if (!random.once(150)) return key
  return random.pick([{ ...key, sk: '' }, { ...key, pk: 7 }, { pk: 'p1' }, { ...key, s: 'more' }])
}

const anyIndexKeys = (random: Random): Record<string, unknown> => {
  const keys = Object.fromEntries(
    random
      .some(Object.keys(INDEXED), random.below(8))
      .map((name) => [name, random.pick(INDEXED[name] ?? [])]),
  )
  return random.once(150) ? { ...keys, byTime: random.pick(['', 5, null]) } : keys
}

const anyItem = (random: Random): Record<string, unknown> => ({
  ...anyKey(random),
  ...anyIndexKeys(random),
  ...anyMembers(random),
  ...(random.once(5) ? { none: undefined } : {}),
})

const anyGuard = (naming: Naming): object => {
  const { random } = naming
  if (random.once(3)) return {}
  return {
    ConditionExpression: anyCondition(naming),
    ...(random.once(3) ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {}),
  }
}

/** Now and then a placeholder too many or too few. */
const membersOf = (naming: Naming): object => {
  const members = naming.members()
  const { ExpressionAttributeValues: values, ExpressionAttributeNames: names } = members
  if (!naming.random.once(100)) return members
  return naming.random.pick([
    { ...members, ExpressionAttributeValues: { ...values, ':more': 1 } },
    { ...members, ExpressionAttributeNames: { ...names, '#more': 's' } },
    { ...members, ExpressionAttributeValues: undefined },
    { ...members, ExpressionAttributeNames: undefined },
  ])
}

export const anyPut = (random: Random): Record<string, unknown> => {
  const naming = namingOf(random)
  const guard = anyGuard(naming)
  return { TableName: TABLE, Item: anyItem(random), ...guard, ...membersOf(naming) }
}

export const anyDelete = (random: Random): Record<string, unknown> => {
  const naming = namingOf(random)
  const guard = anyGuard(naming)
  return { TableName: TABLE, Key: anyKey(random), ...guard, ...membersOf(naming) }
}

export const anyUpdateInput = (random: Random): Record<string, unknown> => {
  const naming = namingOf(random)
  const UpdateExpression = random.once(3) ? indexUpdate(naming) : anyUpdate(naming)
  const guard = anyGuard(naming)
  const Key = anyKey(random)
  return { TableName: TABLE, Key, UpdateExpression, ...guard, ...membersOf(naming) }
}

/** Moves an item within the indexes, in or out of them. */
const indexUpdate = (naming: Naming): string => {
  const { random, path, value } = naming
  const [set = '', ...removed] = random.some(Object.keys(INDEXED), 1 + random.below(3))
  const written = `SET ${path(set)} = ${value(random.pick(INDEXED[set] ?? []))}`
  return removed.length > 0 ? `${written} REMOVE ${removed.map(path).join(', ')}` : written
}

export const anyCheck = (random: Random): Record<string, unknown> => {
  const naming = namingOf(random)
  const ConditionExpression = anyCondition(naming)
  return { TableName: TABLE, Key: anyKey(random), ConditionExpression, ...membersOf(naming) }
}

export const anyGet = (random: Random): Record<string, unknown> => {
  const naming = namingOf(random)
  const projection = random.once(3) ? { ProjectionExpression: anyProjection(naming) } : {}
  const Key = anyKey(random)
  return { TableName: TABLE, Key, ConsistentRead: true, ...projection, ...naming.members() }
}

const anyBatchGet = (random: Random): Record<string, unknown> => {
  const naming = namingOf(random)
  const projection = random.once(3) ? { ProjectionExpression: anyProjection(naming) } : {}
  const Keys = Array.from({ length: 1 + random.below(6) }, () => anyKey(random))
  const wanted = { Keys, ConsistentRead: true, ...projection, ...naming.members() }
  return { RequestItems: { [TABLE]: wanted } }
}

const sortCondition = (naming: Naming, sortKey: string, texts: readonly string[]): string => {
  const { random, path, value } = naming
  const text = (): string => value(random.pick(texts))
  switch (random.below(4)) {
    case 0:
      return ''
    case 1:
      return ` AND ${path(sortKey)} ${random.pick(['=', '<', '<=', '>', '>='])} ${text()}`
    case 2: {
      const [low, high] = random.some(texts, 2).sort()
      return ` AND ${path(sortKey)} BETWEEN ${value(low)} AND ${value(high)}`
    }
    default:
      return ` AND begins_with(${path(sortKey)}, ${text()})`
  }
}

const PREFIXES = ['a', 'a#', 'b', '😀', '\uffee', 't', 't1', 't3#', 'x']

export const anyQuery = (random: Random): Record<string, unknown> => {
  const naming = namingOf(random)
  const { path, value } = naming
  const index = random.once(2) ? random.pick(tableDefinition.indexes) : undefined
  const { partitionKey, sortKey } = index ?? { partitionKey: 'pk', sortKey: 'sk' }
  const partition = random.pick(index ? (INDEX_KEYS[partitionKey] ?? []) : PARTITIONS)
  const texts = [...(index ? TIMES : SORTS), ...PREFIXES]
  const first = `${path(partitionKey)} = ${value(partition)}`
  const KeyConditionExpression = first + sortCondition(naming, sortKey, texts)
  // A filter of an index sees keys of the table and projected attributes.
  const about = index && !random.once(10) ? ['pk', 'sk', ...index.projected] : undefined
  const filter = random.once(3) ? { FilterExpression: anyCondition(naming, 1, about) } : {}
  return {
    TableName: TABLE,
    KeyConditionExpression,
    ...filter,
    ...(index ? { IndexName: index.name } : { ConsistentRead: true }),
    ...(random.once(2) ? { ScanIndexForward: random.once(2) } : {}),
    ...(random.once(2) ? { Limit: 1 + random.below(4) } : {}),
    ...(random.once(6) ? { Select: 'COUNT' } : {}),
    ...membersOf(naming),
  }
}

const PARTS = {
  Put: anyPut,
  Update: anyUpdateInput,
  Delete: anyDelete,
  ConditionCheck: anyCheck,
}

type PartInput = { Key?: Record<string, unknown>; Item?: Record<string, unknown> }

const spelled = ({ Key, Item }: PartInput): string =>
  JSON.stringify([Item?.pk ?? Key?.pk, Item?.sk ?? Key?.sk])

const anyTransaction = (random: Random): Record<string, unknown> => {
  const parts = new Map<string, object>()
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const kind = random.pick(['Put', 'Update', 'Delete', 'ConditionCheck'] as const)
    const input = PARTS[kind](random)
    parts.set(spelled(input), { [kind]: input })
  }
  return {
    TransactItems: [...parts.values()],
    ...(random.once(4) ? { ClientRequestToken: `token-${random.below(1_000_000)}` } : {}),
  }
}

const anyTransactGet = (random: Random): Record<string, unknown> => ({
  TransactItems: Array.from({ length: 1 + random.below(3) }, () => {
    const { ConsistentRead, ...get } = anyGet(random)
    return { Get: { ...get, Key: goodKey(random) } }
  }),
})

const ANY_RETURN = ['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW']

type Make = (random: Random) => Operation

const making =
  (command: string, make: (random: Random) => Operation['input']): Make =>
  (random) => ({ command, input: make(random) })

const MAKES: readonly Make[] = [
  making('PutCommand', anyPut),
  making('PutCommand', (random) => ({
    ...anyPut(random),
    ReturnValues: random.once(20) ? 'ALL_NEW' : 'ALL_OLD',
  })),
  making('UpdateCommand', anyUpdateInput),
  ...Array.from({ length: 3 }, () =>
    making('UpdateCommand', (random) => ({
      ...anyUpdateInput(random),
      ReturnValues: random.pick(ANY_RETURN),
    })),
  ),
  making('DeleteCommand', (random) => ({
    ...anyDelete(random),
    ...(random.once(2) ? { ReturnValues: 'ALL_OLD' } : {}),
  })),
  making('GetCommand', anyGet),
  making('QueryCommand', anyQuery),
  making('QueryCommand', anyQuery),
  making('BatchGetCommand', anyBatchGet),
  making('TransactWriteCommand', anyTransaction),
  making('TransactWriteCommand', anyTransaction),
  making('TransactGetCommand', anyTransactGet),
]

export const anyOperation = (random: Random): Operation => random.pick(MAKES)(random)
