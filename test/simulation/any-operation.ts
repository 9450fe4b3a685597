import { tableDefinition } from '../../infra/definitions/table.ts'
import {
  anyCondition,
  anyMembers,
  anyProjection,
  anyUpdate,
  type Naming,
  namingOf,
} from './any-expression.ts'
import type { Chance } from './chance.ts'
import { type Operation, TABLE } from './operation.ts'

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

const goodKey = (chance: Chance): Record<string, unknown> => ({
  pk: chance.pick(PARTITIONS),
  sk: chance.pick(SORTS),
})

export const anyKey = (chance: Chance): Record<string, unknown> => {
  const key = goodKey(chance)
  if (!chance.once(150)) return key
  return chance.pick([{ ...key, sk: '' }, { ...key, pk: 7 }, { pk: 'p1' }, { ...key, s: 'more' }])
}

const anyIndexKeys = (chance: Chance): Record<string, unknown> => {
  const keys = Object.fromEntries(
    chance
      .some(Object.keys(INDEXED), chance.below(8))
      .map((name) => [name, chance.pick(INDEXED[name] ?? [])]),
  )
  return chance.once(150) ? { ...keys, byTime: chance.pick(['', 5, null]) } : keys
}

const anyItem = (chance: Chance): Record<string, unknown> => ({
  ...anyKey(chance),
  ...anyIndexKeys(chance),
  ...anyMembers(chance),
  ...(chance.once(5) ? { none: undefined } : {}),
})

const anyGuard = (naming: Naming): object => {
  const { chance } = naming
  if (chance.once(3)) return {}
  return {
    ConditionExpression: anyCondition(naming),
    ...(chance.once(3) ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {}),
  }
}

/** Now and then a placeholder too many or too few. */
const membersOf = (naming: Naming): object => {
  const members = naming.members()
  const { ExpressionAttributeValues: values, ExpressionAttributeNames: names } = members
  if (!naming.chance.once(100)) return members
  return naming.chance.pick([
    { ...members, ExpressionAttributeValues: { ...values, ':more': 1 } },
    { ...members, ExpressionAttributeNames: { ...names, '#more': 's' } },
    { ...members, ExpressionAttributeValues: undefined },
    { ...members, ExpressionAttributeNames: undefined },
  ])
}

export const anyPut = (chance: Chance): Record<string, unknown> => {
  const naming = namingOf(chance)
  const guard = anyGuard(naming)
  return { TableName: TABLE, Item: anyItem(chance), ...guard, ...membersOf(naming) }
}

export const anyDelete = (chance: Chance): Record<string, unknown> => {
  const naming = namingOf(chance)
  const guard = anyGuard(naming)
  return { TableName: TABLE, Key: anyKey(chance), ...guard, ...membersOf(naming) }
}

export const anyUpdateInput = (chance: Chance): Record<string, unknown> => {
  const naming = namingOf(chance)
  const UpdateExpression = chance.once(3) ? indexUpdate(naming) : anyUpdate(naming)
  const guard = anyGuard(naming)
  const Key = anyKey(chance)
  return { TableName: TABLE, Key, UpdateExpression, ...guard, ...membersOf(naming) }
}

/** Moves an item within the indexes, in or out of them. */
const indexUpdate = (naming: Naming): string => {
  const { chance, path, value } = naming
  const [set = '', ...removed] = chance.some(Object.keys(INDEXED), 1 + chance.below(3))
  const written = `SET ${path(set)} = ${value(chance.pick(INDEXED[set] ?? []))}`
  return removed.length > 0 ? `${written} REMOVE ${removed.map(path).join(', ')}` : written
}

export const anyCheck = (chance: Chance): Record<string, unknown> => {
  const naming = namingOf(chance)
  const ConditionExpression = anyCondition(naming)
  return { TableName: TABLE, Key: anyKey(chance), ConditionExpression, ...membersOf(naming) }
}

export const anyGet = (chance: Chance): Record<string, unknown> => {
  const naming = namingOf(chance)
  const projection = chance.once(3) ? { ProjectionExpression: anyProjection(naming) } : {}
  const Key = anyKey(chance)
  return { TableName: TABLE, Key, ConsistentRead: true, ...projection, ...naming.members() }
}

const anyBatchGet = (chance: Chance): Record<string, unknown> => {
  const naming = namingOf(chance)
  const projection = chance.once(3) ? { ProjectionExpression: anyProjection(naming) } : {}
  const Keys = Array.from({ length: 1 + chance.below(6) }, () => anyKey(chance))
  const wanted = { Keys, ConsistentRead: true, ...projection, ...naming.members() }
  return { RequestItems: { [TABLE]: wanted } }
}

const sortCondition = (naming: Naming, sortKey: string, texts: readonly string[]): string => {
  const { chance, path, value } = naming
  const text = (): string => value(chance.pick(texts))
  switch (chance.below(4)) {
    case 0:
      return ''
    case 1:
      return ` AND ${path(sortKey)} ${chance.pick(['=', '<', '<=', '>', '>='])} ${text()}`
    case 2: {
      const [low, high] = chance.some(texts, 2).sort()
      return ` AND ${path(sortKey)} BETWEEN ${value(low)} AND ${value(high)}`
    }
    default:
      return ` AND begins_with(${path(sortKey)}, ${text()})`
  }
}

const PREFIXES = ['a', 'a#', 'b', '😀', '\uffee', 't', 't1', 't3#', 'x']

export const anyQuery = (chance: Chance): Record<string, unknown> => {
  const naming = namingOf(chance)
  const { path, value } = naming
  const index = chance.once(2) ? chance.pick(tableDefinition.indexes) : undefined
  const { partitionKey, sortKey } = index ?? { partitionKey: 'pk', sortKey: 'sk' }
  const partition = chance.pick(index ? (INDEX_KEYS[partitionKey] ?? []) : PARTITIONS)
  const texts = [...(index ? TIMES : SORTS), ...PREFIXES]
  const first = `${path(partitionKey)} = ${value(partition)}`
  const KeyConditionExpression = first + sortCondition(naming, sortKey, texts)
  // A filter of an index sees keys of the table and projected attributes.
  const about = index && !chance.once(10) ? ['pk', 'sk', ...index.projected] : undefined
  const filter = chance.once(3) ? { FilterExpression: anyCondition(naming, 1, about) } : {}
  return {
    TableName: TABLE,
    KeyConditionExpression,
    ...filter,
    ...(index ? { IndexName: index.name } : { ConsistentRead: true }),
    ...(chance.once(2) ? { ScanIndexForward: chance.once(2) } : {}),
    ...(chance.once(2) ? { Limit: 1 + chance.below(4) } : {}),
    ...(chance.once(6) ? { Select: 'COUNT' } : {}),
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

const anyTransaction = (chance: Chance): Record<string, unknown> => {
  const parts = new Map<string, object>()
  for (let count = 1 + chance.below(4); count > 0; count -= 1) {
    const kind = chance.pick(['Put', 'Update', 'Delete', 'ConditionCheck'] as const)
    const input = PARTS[kind](chance)
    parts.set(spelled(input), { [kind]: input })
  }
  return {
    TransactItems: [...parts.values()],
    ...(chance.once(4) ? { ClientRequestToken: `token-${chance.below(1_000_000)}` } : {}),
  }
}

const anyTransactGet = (chance: Chance): Record<string, unknown> => ({
  TransactItems: Array.from({ length: 1 + chance.below(3) }, () => {
    const { ConsistentRead, ...get } = anyGet(chance)
    return { Get: { ...get, Key: goodKey(chance) } }
  }),
})

const ANY_RETURN = ['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW']

type Make = (chance: Chance) => Operation

const making =
  (command: string, make: (chance: Chance) => Operation['input']): Make =>
  (chance) => ({ command, input: make(chance) })

const MAKES: readonly Make[] = [
  making('PutCommand', anyPut),
  making('PutCommand', (chance) => ({
    ...anyPut(chance),
    ReturnValues: chance.once(20) ? 'ALL_NEW' : 'ALL_OLD',
  })),
  making('UpdateCommand', anyUpdateInput),
  ...Array.from({ length: 3 }, () =>
    making('UpdateCommand', (chance) => ({
      ...anyUpdateInput(chance),
      ReturnValues: chance.pick(ANY_RETURN),
    })),
  ),
  making('DeleteCommand', (chance) => ({
    ...anyDelete(chance),
    ...(chance.once(2) ? { ReturnValues: 'ALL_OLD' } : {}),
  })),
  making('GetCommand', anyGet),
  making('QueryCommand', anyQuery),
  making('QueryCommand', anyQuery),
  making('BatchGetCommand', anyBatchGet),
  making('TransactWriteCommand', anyTransaction),
  making('TransactWriteCommand', anyTransaction),
  making('TransactGetCommand', anyTransactGet),
]

export const anyOperation = (chance: Chance): Operation => chance.pick(MAKES)(chance)
