import fc from 'fast-check'
import { tableDefinition } from '../../../infra/definitions/table.ts'
import {
  anyCondition,
  anyMembers,
  anyUpdate,
  type Naming,
  newNaming,
  newRandom,
  type Random,
} from './random-expression.ts'

/** Generates commands of every kind about a few items. */

/** The class name of a command of the document client, and its input. */
export type Operation = { command: string; input: Record<string, unknown> }

/** Stands for the table's name, which differs from run to run. */
export const TABLE = 'the-table'

const TableName = TABLE
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

/** The attributes that an index entry holds. */
const INDEXED: Record<string, readonly unknown[]> = {
  ...INDEX_KEYS,
  status: ['', 'a', 'ab', 3],
  amount: [1, 2, 'a'],
}

const anyKey = (random: Random): Record<string, unknown> => {
  const key = { pk: random.pick(PARTITIONS), sk: random.pick(SORTS) }
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

type Input = Record<string, unknown>

/** Builds a write whose condition, if any, comes after its own placeholders. */
const write = (random: Random, membersOf: (naming: Naming) => object): Input => {
  const naming = newNaming(random)
  const members = membersOf(naming)
  const condition = random.once(3) ? {} : { ConditionExpression: anyCondition(naming) }
  return { TableName, ...members, ...condition, ...naming.members() }
}

const anyPut = (random: Random): Input => write(random, () => ({ Item: anyItem(random) }))
const anyDelete = (random: Random): Input => write(random, () => ({ Key: anyKey(random) }))
const anyUpdateInput = (random: Random): Input =>
  write(random, (naming) => {
    const UpdateExpression = random.once(3) ? indexUpdate(naming) : anyUpdate(naming)
    return { Key: anyKey(random), UpdateExpression }
  })

const anyCheck = (random: Random): Input => {
  const naming = newNaming(random)
  const ConditionExpression = anyCondition(naming)
  return { TableName, Key: anyKey(random), ConditionExpression, ...naming.members() }
}

/** Moves an item within, into or out of the indexes. */
const indexUpdate = ({ random, name, value }: Naming): string => {
  const [set = '', ...removed] = random.some(Object.keys(INDEXED), 1 + random.below(3))
  const written = `SET ${name(set)} = ${value(random.pick(INDEXED[set] ?? []))}`
  return removed.length > 0 ? `${written} REMOVE ${removed.map(name).join(', ')}` : written
}

const anyGet = (random: Random): Input => ({ TableName, Key: anyKey(random), ConsistentRead: true })

const anyBatchGet = (random: Random): Input => {
  const Keys = Array.from({ length: 1 + random.below(6) }, () => anyKey(random))
  return { RequestItems: { [TABLE]: { Keys, ConsistentRead: true } } }
}

const sortCondition = (naming: Naming, sortKey: string, texts: readonly string[]): string => {
  const { random, name, value } = naming
  const text = (): string => value(random.pick(texts))
  const [low, high] = random.some(texts, 2).sort()
  return random.pick([
    () => '',
    () => ` AND ${name(sortKey)} ${random.pick(['=', '<', '<=', '>', '>='])} ${text()}`,
    () => ` AND ${name(sortKey)} BETWEEN ${value(low)} AND ${value(high)}`,
    () => ` AND begins_with(${name(sortKey)}, ${text()})`,
  ])()
}

const PREFIXES = ['a', 'a#', 'b', '😀', '\uffee', 't', 't1', 't3#', 'x']

const anyQuery = (random: Random): Input => {
  const naming = newNaming(random)
  const index = random.once(2) ? random.pick(tableDefinition.indexes) : undefined
  const { partitionKey, sortKey } = index ?? { partitionKey: 'pk', sortKey: 'sk' }
  const partition = random.pick(index ? (INDEX_KEYS[partitionKey] ?? []) : PARTITIONS)
  const texts = [...(index ? TIMES : SORTS), ...PREFIXES]
  const first = `${naming.name(partitionKey)} = ${naming.value(partition)}`
  const KeyConditionExpression = first + sortCondition(naming, sortKey, texts)
  const filtered = index
    ? ['pk', 'sk', ...index.projected, ...(random.once(10) ? ['s'] : [])]
    : ['s', 'n', 'x', 'byTime', ...(random.once(10) ? ['sk'] : [])]
  const shape = random.pick([{}, {}, {}, { Select: 'COUNT' }, { ProjectionExpression: sortKey }])
  return {
    TableName,
    KeyConditionExpression,
    ...(random.once(3) ? { FilterExpression: anyCondition(naming, 1, filtered) } : {}),
    ...(index ? { IndexName: index.name, ...shape } : { ConsistentRead: true }),
    ...(random.once(2) ? { ScanIndexForward: random.once(2) } : {}),
    ...(random.once(2) ? { Limit: 1 + random.below(4) } : {}),
    ...naming.members(),
  }
}

const WRITES = { Put: anyPut, Update: anyUpdateInput, Delete: anyDelete, ConditionCheck: anyCheck }

type Keyed = { Key?: Record<string, unknown>; Item?: Record<string, unknown> }

const keyText = ({ Key, Item }: Keyed): string =>
  JSON.stringify([Item?.pk ?? Key?.pk, Item?.sk ?? Key?.sk])

const anyTransaction = (random: Random): Input => {
  const writes = new Map<string, object>()
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const kind = random.pick(['Put', 'Update', 'Delete', 'ConditionCheck'] as const)
    const input = WRITES[kind](random)
    writes.set(keyText(input), { [kind]: input })
  }
  return {
    TransactItems: [...writes.values()],
    ...(random.once(4) ? { ClientRequestToken: `token-${random.below(1_000_000)}` } : {}),
  }
}

/** Every command that the store sends, and the scans of tests. */
export const KINDS: readonly (readonly [string, (random: Random) => Input])[] = [
  ['PutCommand', anyPut],
  ['PutCommand', anyPut],
  ['UpdateCommand', anyUpdateInput],
  ['UpdateCommand', (random) => ({ ...anyUpdateInput(random), ReturnValues: 'ALL_NEW' })],
  ['UpdateCommand', (random) => ({ ...anyUpdateInput(random), ReturnValues: 'UPDATED_NEW' })],
  ['UpdateCommand', (random) => ({ ...anyUpdateInput(random), ReturnValues: 'UPDATED_NEW' })],
  ['DeleteCommand', anyDelete],
  ['GetCommand', anyGet],
  ['QueryCommand', anyQuery],
  ['QueryCommand', anyQuery],
  ['BatchGetCommand', anyBatchGet],
  ['ScanCommand', (random) => ({ TableName, ...(random.once(2) ? { Select: 'COUNT' } : {}) })],
  ['TransactWriteCommand', anyTransaction],
  ['TransactWriteCommand', anyTransaction],
]

const anyOperation = (random: Random): Operation => {
  const [command, inputOf] = random.pick(KINDS)
  return { command, input: inputOf(random) }
}

/** Sometimes repeats a transaction, or sends another one under its token. */
const repeated = (earlier: readonly Operation[], random: Random): Operation | undefined => {
  if (!random.once(25)) return undefined
  const withToken = earlier.filter(({ input }) => input.ClientRequestToken !== undefined)
  const first = withToken.at(-1 - random.below(3))
  const second = withToken.at(-1 - random.below(3))
  if (!first || !second) return undefined
  if (!random.once(4)) return first
  const { ClientRequestToken } = first.input
  return { command: first.command, input: { ...second.input, ClientRequestToken } }
}

/** Lists of operations, which shrink to shorter ones. */
export const operationLists = (maxLength: number) =>
  fc.array(fc.noShrink(fc.nat()), { maxLength, size: 'max' }).map((seeds) => {
    const operations: Operation[] = []
    for (const seed of seeds) {
      const random = newRandom(seed)
      operations.push(repeated(operations, random) ?? anyOperation(random))
    }
    return operations
  })
