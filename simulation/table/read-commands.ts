import type { Item } from '../engine/observations.ts'
import { invalid, noSuchTable } from './errors.ts'
import { type Key, keyIn } from './keys.ts'
import { type Bindings, type Path, refuseOverlaps } from './paths.ts'
import { bind, type Placeholders } from './placeholders.ts'
import { parseProjectionText, projected } from './projections.ts'
import { type QueryInput, query, scan } from './query.ts'
import type { Storage } from './storage.ts'
import type { TableOptions } from './table.ts'
import type { Value } from './values.ts'

export type ReadInput = Placeholders & {
  TableName?: string | undefined
  Key?: unknown
  ProjectionExpression?: string | undefined
  ConsistentRead?: boolean | undefined
}

export type BatchGetInput = {
  RequestItems?: Record<string, Omit<ReadInput, 'Key'> & { Keys?: readonly unknown[] }>
}

export type TransactGetInput = { TransactItems?: readonly { Get?: ReadInput }[] }

type Output = Record<string, unknown>

const READS_MAX = 100

/** The commands that read. */
export const readsOf = (storage: Storage, { definition, name, now, staleness }: TableOptions) => {
  const ageOf = (input: { ConsistentRead?: boolean | undefined }): number =>
    input.ConsistentRead || !staleness ? 0 : staleness()

  const refuseOther = (tableName: string | undefined): void => {
    if (tableName !== name) throw noSuchTable()
  }

  const findAll = (keys: readonly Key[], input: ReadInput): Item[] => {
    const show = showing(input)
    const age = ageOf(input)
    return keys.flatMap((key) => {
      const item = age > 0 ? storage.findStale(key, age) : storage.find(key)
      return item ? [show(item)] : []
    })
  }

  const get = (input: ReadInput): Output => {
    refuseOther(input.TableName)
    const [Item] = findAll([keyIn(input.Key)], input)
    return Item ? { Item } : {}
  }

  const batchGet = ({ RequestItems = {} }: BatchGetInput): Output => {
    const [[tableName, input] = [], second] = Object.entries(RequestItems)
    if (!input || second) throw invalid('A batch is for the one table')
    refuseOther(tableName)
    const keys = differing((input.Keys ?? []).map(keyIn))
    return { Responses: { [name]: findAll(keys, input) }, UnprocessedKeys: {} }
  }

  const transactGet = ({ TransactItems = [] }: TransactGetInput): Output => {
    const gets = TransactItems.map(({ Get = {} }) => {
      refuseOther(Get.TableName)
      return { key: keyIn(Get.Key), input: { ...Get, ConsistentRead: true } }
    })
    differing(gets.map(({ key }) => key))
    return {
      Responses: gets.map(({ key, input }) => {
        const [Item] = findAll([key], input)
        return Item ? { Item } : {}
      }),
    }
  }

  const sourceOf = (input: QueryInput) => {
    refuseOther(input.TableName)
    const { IndexName } = input
    if (IndexName === undefined) {
      const age = ageOf(input)
      return {
        keys: definition,
        projected: undefined,
        rowsOf: (pk: string) => (age > 0 ? storage.partitionStale(pk, age) : storage.partition(pk)),
      }
    }
    const view = storage.index(IndexName)
    if (input.ConsistentRead) {
      throw invalid('Consistent reads are not supported on global secondary indexes')
    }
    return {
      keys: view.definition,
      projected: view.definition.projected,
      rowsOf: (value: string) => view.partition(value, now()),
    }
  }

  return {
    get,
    batchGet,
    transactGet,
    query: (input: QueryInput): Output => query(input, sourceOf(input)),
    scan: (input: QueryInput): Output => {
      refuseOther(input.TableName)
      return scan(input, storage.items())
    },
  }
}

/** Gives of an item what the projection of a command asks for. */
const showing = (input: ReadInput): ((item: Item) => Item) => {
  const { ProjectionExpression } = input
  const paths =
    ProjectionExpression === undefined ? undefined : parseProjectionText(ProjectionExpression)
  const bindings = bind(input, [paths])
  if (paths) refuseOverlaps(paths.tree, bindings)
  return paths ? (item) => part(item, paths.tree, bindings) : (item) => item
}

const part = (item: Item, paths: readonly Path[], bindings: Bindings): Item =>
  projected(item as Record<string, Value>, paths, bindings) as Item

const differing = (keys: readonly Key[]): readonly Key[] => {
  if (keys.length === 0 || keys.length > READS_MAX) throw invalid('One to a hundred keys are read')
  if (new Set(keys.map(({ pk, sk }) => `${pk}\n${sk}`)).size < keys.length) {
    throw invalid('Provided list of item keys contains duplicates')
  }
  return keys
}
