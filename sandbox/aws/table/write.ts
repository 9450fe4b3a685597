import type { Item } from './change.ts'
import { conditionFailed, invalid, unsupported } from './errors.ts'
import { evaluate } from './evaluate.ts'
import { checkItemSize } from './item-size.ts'
import { checkIndexKeys, type Key, keyOf, parseKey, type TableDefinition } from './keys.ts'
import { parseCondition } from './parse-condition.ts'
import { bind, nameOf, type Placeholders } from './placeholders.ts'
import { applyUpdate, parseUpdateText } from './update.ts'
import { storable } from './values.ts'

/** The input of one write, alone or in a transaction. */
export type WriteInput = Placeholders & {
  TableName?: string | undefined
  Item?: unknown
  Key?: unknown
  UpdateExpression?: string | undefined
  ConditionExpression?: string | undefined
  ReturnValues?: string | undefined
}

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

/** A valid write, not yet checked against the stored item. */
export type Write = {
  key: Key
  /** @throws ConditionalCheckFailedException, ValidationException */
  next: (previous: Item | undefined) => Item | undefined
  /** The attributes that an update writes. */
  written: readonly string[]
}

/**
 * Parses a write.
 * @throws ValidationException for a key or an expression that is invalid for every item
 */
export const parseWrite = (
  kind: WriteKind,
  input: WriteInput,
  definition: TableDefinition,
): Write => {
  const { ConditionExpression, UpdateExpression } = input
  const condition =
    ConditionExpression === undefined ? undefined : parseCondition(ConditionExpression)
  const update = UpdateExpression === undefined ? undefined : parseUpdateText(UpdateExpression)
  if (kind === 'ConditionCheck' && !condition) throw invalid('A condition check has no condition')
  if ('ReturnValuesOnConditionCheckFailure' in input) {
    throw unsupported('ReturnValuesOnConditionCheckFailure')
  }
  const bindings = bind(input, [condition, update])
  const written = (update?.tree ?? []).map(({ to }) => nameOf(to, bindings))
  if (new Set(written).size < written.length) throw invalid('Two document paths overlap')
  const check = (previous: Item | undefined): true => {
    if (!condition || evaluate(condition.tree, previous, bindings)) return true
    throw conditionFailed()
  }
  if (kind === 'Put') {
    const item = storable(input.Item) as Item
    const key = keyOf(item)
    checkIndexKeys(item, definition)
    checkItemSize(item)
    return { key, written, next: (previous) => check(previous) && item }
  }
  const key = parseKey(input.Key)
  const nexts: Record<Exclude<WriteKind, 'Put'>, Write['next']> = {
    Update: (previous) => {
      check(previous)
      checkNoKeys(written)
      const item = applyUpdate(previous ?? key, update?.tree ?? [], bindings)
      checkIndexKeys(item, definition)
      checkItemSize(item)
      return item
    },
    Delete: (previous) => void check(previous),
    ConditionCheck: (previous) => check(previous) && previous,
  }
  return { key, written, next: nexts[kind] }
}

const checkNoKeys = (names: readonly string[]): void => {
  if (names.includes('pk') || names.includes('sk')) {
    throw invalid('Cannot update an attribute that is part of the key')
  }
}
