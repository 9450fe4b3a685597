import { applyUpdate } from './apply-update.ts'
import type { Item } from './change.ts'
import { conditionFailed, invalid, unsupported } from './errors.ts'
import { evaluate } from './evaluate.ts'
import { checkIndexKeys, type Key, keyOf, parseKey, type TableDefinition } from './keys.ts'
import { type Condition, parseCondition } from './parse-condition.ts'
import { parseUpdateText, type Update } from './parse-update.ts'
import { type Bindings, bind, nameOf, type Placeholders } from './placeholders.ts'
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

type ParsedWrite = {
  kind: WriteKind
  input: WriteInput
  condition: Condition | undefined
  update: Update
  bindings: Bindings
}

const NO_UPDATE: Update = { set: [], add: [], remove: [], written: [] }

/** @throws ValidationException for an expression that is invalid for every item */
export const parseWrite = (kind: WriteKind, input: WriteInput): ParsedWrite => {
  const { ConditionExpression, UpdateExpression } = input
  const condition =
    ConditionExpression === undefined ? undefined : parseCondition(ConditionExpression)
  const update = UpdateExpression === undefined ? undefined : parseUpdateText(UpdateExpression)
  if (kind === 'ConditionCheck' && !condition) throw invalid('A condition check has no condition')
  if ('ReturnValuesOnConditionCheckFailure' in input) {
    throw unsupported('ReturnValuesOnConditionCheckFailure')
  }
  const bindings = bind(input, [condition, update])
  const { tree = NO_UPDATE } = update ?? {}
  const names = new Set(tree.written.map((attribute) => nameOf(attribute, bindings)))
  if (names.size < tree.written.length) throw invalid('Two document paths overlap')
  return { kind, input, condition: condition?.tree, update: tree, bindings }
}

/** @throws ValidationException for an invalid key */
export const writeOf = (parsed: ParsedWrite, definition: TableDefinition): Write => {
  const { kind, input, update, bindings } = parsed
  const written = update.written.map((attribute) => nameOf(attribute, bindings))
  const check = conditionCheck(parsed)
  switch (kind) {
    case 'Put': {
      const item = storable(input.Item) as Item
      const key = keyOf(item)
      checkIndexKeys(item, definition)
      return { key, written, next: (previous) => check(previous) && item }
    }
    case 'Update': {
      const key = parseKey(input.Key)
      const next = (previous: Item | undefined): Item => {
        check(previous)
        checkNoKeys(written)
        const item = applyUpdate(previous ?? key, update, bindings)
        checkIndexKeys(item, definition)
        return item
      }
      return { key, written, next }
    }
    case 'Delete': {
      const next = (previous: Item | undefined): undefined => {
        check(previous)
      }
      return { key: parseKey(input.Key), written, next }
    }
    case 'ConditionCheck': {
      const key = parseKey(input.Key)
      return { key, written, next: (previous) => check(previous) && previous }
    }
  }
}

const conditionCheck =
  ({ condition, bindings }: ParsedWrite) =>
  (previous: Item | undefined): true => {
    if (!condition || evaluate(condition, previous, bindings)) return true
    throw conditionFailed()
  }

const checkNoKeys = (names: readonly string[]): void => {
  if (names.includes('pk') || names.includes('sk')) {
    throw invalid('Cannot update an attribute that is part of the key')
  }
}
