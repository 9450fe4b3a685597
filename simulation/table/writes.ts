import type { Item } from '../engine/observations.ts'
import { updated } from './apply-update.ts'
import { conditionFailed, invalid } from './errors.ts'
import { evaluate } from './evaluate.ts'
import { type Key, keyIn, keyOf, refuseIndexKeys, type TableDefinition } from './keys.ts'
import { type Condition, parseCondition } from './parse-condition.ts'
import { parseUpdateText, type Update } from './parse-update.ts'
import { attributeIn, type Bindings, type Path, refuseOverlaps } from './paths.ts'
import { bind, type Placeholders } from './placeholders.ts'
import { marshalled } from './stream-record.ts'
import { refuseOperands, refuseSenseless } from './validate.ts'
import { storable, type Value } from './values.ts'

/** What is common to the inputs of every single write, alone or in a transaction. */
export type WriteInput = Placeholders & {
  TableName?: string | undefined
  Item?: unknown
  Key?: unknown
  UpdateExpression?: string | undefined
  ConditionExpression?: string | undefined
  ReturnValues?: string | undefined
  ReturnValuesOnConditionCheckFailure?: string | undefined
}

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

/** A write that was found to make sense, and is yet to be judged by what stands. */
export type Write = {
  key: Key
  /** @throws ConditionalCheckFailedException, ValidationException */
  next: (before: Item | undefined) => Item | undefined
  bindings: Bindings
  /** What an update writes. */
  paths: readonly Path[]
}

const NO_UPDATE: Update = { set: [], add: [], remove: [], paths: [], isDeep: false }

/** A write whose expressions were found to make sense; its key is still to be looked at. */
export type ReadWrite = {
  kind: WriteKind
  input: WriteInput
  condition: Condition | undefined
  update: Update
  bindings: Bindings
}

/** @throws ValidationException for expressions that can be judged without any item */
export const readWrite = (kind: WriteKind, input: WriteInput): ReadWrite => {
  const { ConditionExpression, UpdateExpression } = input
  const condition =
    ConditionExpression === undefined ? undefined : parseCondition(ConditionExpression)
  const update =
    kind === 'Update' && UpdateExpression !== undefined
      ? parseUpdateText(UpdateExpression)
      : undefined
  if (kind === 'ConditionCheck' && !condition) throw invalid('A condition check has a condition')
  const bindings = bind(input, [condition, update])
  if (condition) refuseSenseless(condition.tree, bindings)
  if (update) {
    refuseOverlaps(update.tree.paths, bindings)
    refuseOperands(update.tree, bindings)
  }
  return { kind, input, condition: condition?.tree, update: update?.tree ?? NO_UPDATE, bindings }
}

/** @throws ValidationException when it is about no possible item */
export const writeOf = (read: ReadWrite, definition: TableDefinition): Write => {
  const { kind, input, update, bindings } = read
  const { paths } = update
  const judge = judgeOf(read)
  switch (kind) {
    case 'Put': {
      const item = storable(input.Item) as Item
      const key = keyOf(item)
      refuseIndexKeys(item, definition)
      return { key, bindings, paths, next: (before) => judge(before) && item }
    }
    case 'Update': {
      const key = keyIn(input.Key)
      const next = updating(key, update, bindings, definition)
      return { key, bindings, paths, next: (before) => judge(before) && next(before) }
    }
    case 'Delete': {
      const next = (before: Item | undefined): undefined => {
        judge(before)
      }
      return { key: keyIn(input.Key), bindings, paths, next }
    }
    case 'ConditionCheck':
      return {
        key: keyIn(input.Key),
        bindings,
        paths,
        next: (before) => judge(before) && before,
      }
  }
}

const judgeOf = ({ condition, input, bindings }: ReadWrite) => {
  const isReturned = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD'
  return (before: Item | undefined): true => {
    if (!condition || evaluate(condition, before as Value | undefined, bindings)) return true
    throw conditionFailed(isReturned && before ? marshalled(before) : undefined)
  }
}

const refuseKeyPaths = (paths: readonly Path[], bindings: Bindings): void => {
  for (const path of paths) {
    const attribute = attributeIn(path, bindings)
    if (attribute === 'pk' || attribute === 'sk') {
      throw invalid(`Cannot update attribute ${attribute}. This attribute is part of the key`)
    }
  }
}

const updating =
  (key: Key, update: Update, bindings: Bindings, definition: TableDefinition) =>
  (before: Item | undefined): Item => {
    refuseKeyPaths(update.paths, bindings)
    const item = updated((before ?? key) as Record<string, Value>, update, bindings) as Item
    refuseIndexKeys(item, definition)
    return item
  }
