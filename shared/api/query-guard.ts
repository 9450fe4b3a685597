import { type FieldMessages, invalid, Refusal } from '../domain/refusal.ts'
import { parseInput } from '../domain/validation.ts'
import { type ApiEvent, type Guard, orThrow } from './context.ts'
import type { Operation } from './operations.ts'

/**
 * The query as one object. A parameter that is given twice, or as `name[]`, becomes a list, which
 * no schema takes.
 */
const parametersOf = (event: ApiEvent, names: Record<string, string>): Record<string, unknown> => {
  const parameters = new Map<string, string | string[]>()
  for (const [key, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
    const plain = key.replace(/\[.*$/s, '')
    const known = parameters.get(plain)
    const [value = ''] = values ?? []
    const isSingle = known === undefined && values?.length === 1 && plain === key
    parameters.set(plain, isSingle ? value : [known ?? [], values ?? []].flat(2))
  }
  return Object.fromEntries([...parameters].map(([name, value]) => [names[name] ?? name, value]))
}

/** Checks the query against the operation's schema: 422/1007 under the name of each parameter. */
export const queryGuard = (operation: Operation): Guard => ({
  before: ({ event }) => {
    if (!operation.query) return
    const parameters = parametersOf(event, operation.queryNames ?? {})
    const query = parseInput(operation.query, parameters)
    event.context.query = orThrow(query instanceof Refusal ? withLists(query, parameters) : query)
  },
})

/** A list has one fault, whatever the schema says of its type. */
const withLists = (refusal: Refusal, parameters: Record<string, unknown>): Refusal =>
  invalid(
    Object.fromEntries(
      Object.entries(refusal.details as FieldMessages).map(([name, messages]) => [
        name,
        Array.isArray(parameters[name]) ? ['must be given once'] : messages,
      ]),
    ),
  )
