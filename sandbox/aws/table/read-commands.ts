import type { Item } from './change.ts'
import { invalid, noSuchTable, unsupported } from './errors.ts'
import { type Key, parseKey } from './keys.ts'
import { type QueryInput, query, type Source } from './query.ts'
import type { Storage, TableOptions } from './storage.ts'
import { bytesOf, readUnits } from './units.ts'

type ReadInput = {
  TableName?: string | undefined
  Key?: unknown
  ConsistentRead?: boolean | undefined
}

type BatchGetInput = {
  RequestItems?: Record<string, { Keys?: readonly unknown[]; ConsistentRead?: boolean }>
}

type ScanInput = { TableName?: string; Select?: string; ConsistentRead?: boolean }

type Output = Record<string, unknown>

const KEYS_MAX = 100

export const readCommands = (
  storage: Storage,
  { definition, name, now, onConsumed }: TableOptions,
) => {
  const meter = (bytes: readonly number[], { isConsistent = false }: { isConsistent?: boolean }) =>
    onConsumed?.({
      kind: 'read',
      units: bytes.reduce((sum, one) => sum + readUnits(one, { isConsistent }), 0),
    })

  const check = (tableName: string | undefined, input: object): void => {
    if (tableName !== name) throw noSuchTable()
    assertSupported(input)
  }

  const get = (input: ReadInput): Output => {
    check(input.TableName, input)
    const Item = storage.find(parseKey(input.Key))
    if (onConsumed) meter([bytesOf(Item)], { isConsistent: input.ConsistentRead ?? false })
    return Item ? { Item } : {}
  }

  const batchGet = ({ RequestItems = {} }: BatchGetInput): Output => {
    const [[tableName, input] = [], second] = Object.entries(RequestItems)
    if (!input || second) throw unsupported('a batch of several tables')
    check(tableName, input)
    const items = distinct((input.Keys ?? []).map(parseKey)).map(storage.find)
    if (onConsumed) meter(items.map(bytesOf), { isConsistent: input.ConsistentRead ?? false })
    const found = items.filter((item): item is Item => item !== undefined)
    // DynamoDB returns items in no order.
    return { Responses: { [name]: found.reverse() }, UnprocessedKeys: {} }
  }

  /** Reads the whole table in one page. */
  const scan = ({ TableName, Select, ConsistentRead: _, ...others }: ScanInput): Output => {
    if (TableName !== name) throw noSuchTable()
    const [other] = Object.keys(others)
    if (other) throw unsupported(`a scan with ${other}`)
    const Items = storage.items()
    const counts = { Count: Items.length, ScannedCount: Items.length }
    return Select === 'COUNT' ? counts : { Items, ...counts }
  }

  const sourceOf = (input: QueryInput): Source => {
    check(input.TableName, input)
    if (input.IndexName === undefined) {
      return { keys: definition, projected: undefined, rowsOf: storage.partition }
    }
    const view = storage.index(input.IndexName)
    return {
      keys: view.definition,
      projected: view.definition.projected,
      rowsOf: (value) => view.partition(value, now()),
    }
  }

  return {
    GetCommand: get,
    BatchGetCommand: batchGet,
    ScanCommand: scan,
    QueryCommand: (input: QueryInput): Output => {
      const { page, bytes } = query(input, sourceOf(input), { isWeighed: onConsumed !== undefined })
      meter([bytes], { isConsistent: input.ConsistentRead ?? false })
      return page
    },
  }
}

const assertSupported = (input: object): void => {
  if ('ConsistentRead' in input !== !('IndexName' in input)) {
    throw unsupported('an eventually consistent read of the table')
  }
  if ('ProjectionExpression' in input && !('IndexName' in input)) {
    throw unsupported('a projection of the table')
  }
}

const distinct = (keys: readonly Key[]): readonly Key[] => {
  if (keys.length === 0 || keys.length > KEYS_MAX) throw invalid(`1 to ${KEYS_MAX} keys are read`)
  if (new Set(keys.map(({ pk, sk }) => `${pk}\n${sk}`)).size < keys.length) {
    throw invalid('Provided list of item keys contains duplicates')
  }
  return keys
}
