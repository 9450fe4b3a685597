import type { Item } from '../world/witness.ts'
import { bind, type Placeholders } from './bindings.ts'
import { type Condition, parseCondition } from './conditions.ts'
import { holds } from './holds.ts'
import { marshalled } from './image.ts'
import { type Key, keyIn, keyOf, refuseIndexKeys, type TableDefinition } from './keys.ts'
import { attributeIn, type Bindings, type Path, refuseOverlaps } from './paths.ts'
import { conditionFailed, invalid } from './refusals.ts'
import { refuseOperands, refuseSenseless } from './senseless.ts'
import { updated } from './updated.ts'
import { parseUpdateText, type Update } from './updates.ts'
import { keepable, type Value } from './values.ts'

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

export const writeOf = (kind: WriteKind, input: WriteInput, definition: TableDefinition): Write => {
  const condition =
    input.ConditionExpression === undefined ? undefined : parseCondition(input.ConditionExpression)
  const update =
    kind === 'Update' && input.UpdateExpression !== undefined
      ? parseUpdateText(input.UpdateExpression)
      : undefined
  const bindings = bind(input, [condition, update])
  if (condition) refuseSenseless(condition.tree, bindings)
  const judge = judgeOf(condition?.tree, input, bindings)
  const paths = update?.tree.paths ?? []
  switch (kind) {
    case 'Put': {
      const item = keepable(input.Item) as Item
      const key = keyOf(item)
      refuseIndexKeys(item, definition)
      return { key, bindings, paths, next: (before) => judge(before) && item }
    }
    case 'Update': {
      const key = keyIn(input.Key)
      refuseOverlaps(paths, bindings)
      if (update) refuseOperands(update.tree, bindings)
      const next = updating(key, update?.tree ?? NO_UPDATE, bindings, definition)
      return { key, bindings, paths, next: (before) => judge(before) && next(before) }
    }
    case 'Delete':
      return {
        key: keyIn(input.Key),
        bindings,
        paths,
        next: (before) => {
          judge(before)
          return undefined
        },
      }
    case 'ConditionCheck':
      if (!condition) throw invalid('A condition check has a condition')
      return {
        key: keyIn(input.Key),
        bindings,
        paths,
        next: (before) => {
          judge(before)
          return before
        },
      }
  }
}

const judgeOf = (
  condition: Condition | undefined,
  { ReturnValuesOnConditionCheckFailure: onFailure }: WriteInput,
  bindings: Bindings,
) => {
  const isReturned = onFailure === 'ALL_OLD'
  return (before: Item | undefined): true => {
    if (!condition || holds(condition, before as Value | undefined, bindings)) return true
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
