import { invalid } from './errors.ts'
import type { Parsed } from './expression-reader.ts'
import type { Bindings } from './paths.ts'
import { storable, type Value } from './values.ts'

/** The members of a command that say what its placeholders stand for. */
export type Placeholders = {
  ExpressionAttributeNames?: Record<string, string> | undefined
  ExpressionAttributeValues?: Record<string, unknown> | undefined
}

type Expressions = readonly (Parsed<unknown> | undefined)[]

const NONE = Object.freeze({})

/** @throws ValidationException for a placeholder that is not defined, or not used */
export const bind = (
  { ExpressionAttributeNames, ExpressionAttributeValues }: Placeholders,
  expressions: Expressions,
): Bindings => {
  const names = ExpressionAttributeNames ?? NONE
  const values = ExpressionAttributeValues
    ? (storable(ExpressionAttributeValues) as Record<string, Value>)
    : NONE
  if (ExpressionAttributeNames) refuseUnused(names, expressions, 'names')
  if (ExpressionAttributeValues) refuseUnused(values, expressions, 'values')
  for (const expression of expressions) {
    if (!expression) continue
    refuseUndefined(names, expression.names)
    refuseUndefined(values, expression.values)
  }
  return { names, values }
}

const refuseUnused = (given: object, expressions: Expressions, kind: 'names' | 'values'): void => {
  let isEmpty = true
  for (const name in given) {
    isEmpty = false
    if (!expressions.some((expression) => expression?.[kind].includes(name))) {
      throw invalid(`Value provided in expression attribute ${kind} unused in expressions: ${name}`)
    }
  }
  if (isEmpty) throw invalid(`Expression attribute ${kind} must not be empty`)
}

const refuseUndefined = (
  given: Readonly<Record<string, unknown>>,
  used: readonly string[],
): void => {
  for (const name of used) {
    if (given[name] === undefined) {
      throw invalid(`An expression attribute used in the expression is not defined: ${name}`)
    }
  }
}
