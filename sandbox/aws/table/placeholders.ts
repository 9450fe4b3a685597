import { invalid } from './errors.ts'
import type { Parsed } from './expression-reader.ts'
import type { Attribute } from './parse-condition.ts'
import { storable, type Value } from './values.ts'

/** The placeholder members of a command. */
export type Placeholders = {
  ExpressionAttributeNames?: Record<string, string> | undefined
  ExpressionAttributeValues?: Record<string, unknown> | undefined
}

/** The meanings of placeholders in one use of an expression. */
export type Bindings = {
  names: Readonly<Record<string, string>>
  values: Readonly<Record<string, Value>>
}

type Expressions = readonly (Parsed<unknown> | undefined)[]

const NONE = Object.freeze({})

/** @throws ValidationException for a placeholder that is undefined or unused */
export const bind = (
  { ExpressionAttributeNames, ExpressionAttributeValues }: Placeholders,
  expressions: Expressions,
): Bindings => {
  const names = ExpressionAttributeNames ?? NONE
  const values = ExpressionAttributeValues
    ? (storable(ExpressionAttributeValues) as Record<string, Value>)
    : NONE
  if (ExpressionAttributeNames) rejectUnused(names, expressions, 'names')
  if (ExpressionAttributeValues) rejectUnused(values, expressions, 'values')
  for (const expression of expressions) {
    if (!expression) continue
    rejectUndefined(names, expression.names)
    rejectUndefined(values, expression.values)
  }
  return { names, values }
}

const rejectUnused = (bound: object, expressions: Expressions, kind: 'names' | 'values'): void => {
  let isEmpty = true
  for (const name in bound) {
    isEmpty = false
    if (!expressions.some((expression) => expression?.[kind].includes(name))) {
      throw invalid(`Value provided in expression attribute ${kind} unused in expressions: ${name}`)
    }
  }
  if (isEmpty) throw invalid(`Expression attribute ${kind} must not be empty`)
}

const rejectUndefined = (
  bound: Readonly<Record<string, unknown>>,
  used: readonly string[],
): void => {
  for (const name of used) {
    if (bound[name] === undefined) {
      throw invalid(`An expression attribute used in the expression is not defined: ${name}`)
    }
  }
}

export const nameOf = ({ name }: Attribute, { names }: Bindings): string => names[name] ?? name

export const attributeOf = (
  item: Readonly<Record<string, unknown>> | undefined,
  attribute: Attribute,
  bindings: Bindings,
): Value | undefined => item?.[nameOf(attribute, bindings)] as Value | undefined
