import { judgeInput } from '../domain/validation.ts'
import { type ApiEvent, type Guard, orThrow } from './exchange.ts'
import type { Operation } from './operations.ts'

/**
 * The query as one object. A parameter that is given twice, or as `name[]`, becomes a list, which
 * no schema takes: it is refused under its name like any other wrong value.
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

/** Holds the query against the operation's schema: 422/1007 under the name of each parameter. */
export const queryGuard = (operation: Operation): Guard => ({
  before: ({ event }) => {
    if (!operation.query) return
    const parameters = parametersOf(event, operation.queryNames ?? {})
    event.exchange.query = orThrow(judgeInput(operation.query, parameters))
  },
})
