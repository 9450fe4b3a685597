import { type FieldMessages, invalid, Refusal } from '../domain/refusal.ts'
import { parseInput } from '../domain/validation.ts'
import { type ApiEvent, type Guard, orThrow } from './context.ts'
import type { Operation } from './operations.ts'

/** Returns the query as one object. A repeated parameter or `name[]` becomes a list, which no schema accepts. */
const parametersOf = (event: ApiEvent, names: Record<string, string>): Record<string, unknown> => {
  const parameters = new Map<string, string | string[]>()
  for (const [key, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
    const name = key.replace(/\[.*$/s, '')
    const previous = parameters.get(name)
    const [value = ''] = values ?? []
    const isSingle = previous === undefined && values?.length === 1 && name === key
    parameters.set(name, isSingle ? value : [previous ?? [], values ?? []].flat(2))
  }
  return Object.fromEntries([...parameters].map(([name, value]) => [names[name] ?? name, value]))
}

/** Checks the query against the operation's schema: 422/1007 (docs/api.md#query-parameters). */
export const queryGuard = (operation: Operation): Guard => ({
  before: ({ event }) => {
    if (!operation.query) return
    const parameters = parametersOf(event, operation.queryNames ?? {})
    const query = parseInput(operation.query, parameters)
    event.context.query = orThrow(query instanceof Refusal ? withLists(query, parameters) : query)
  },
})

/** Replaces the messages of a repeated parameter, which concern its type. */
const withLists = (refusal: Refusal, parameters: Record<string, unknown>): Refusal =>
  invalid(
    Object.fromEntries(
      Object.entries(refusal.details as FieldMessages).map(([name, messages]) => [
        name,
        Array.isArray(parameters[name]) ? ['must be given once'] : messages,
      ]),
    ),
  )
