import { expect } from 'vitest'
import type { DebitCollection } from '../../sdk/typescript/src/index.ts'
import { camelCase, camelCased } from './camel-case.ts'

/** A call of the client in sdk/cases, in the words of the API. */
export type SdkCall = {
  /** Such as `banks.get`. */
  call: string
  arguments?: unknown[]
  options?: object
  /** Only the members that count. */
  result?: unknown
  error?: { class: string }
}

type Method = (...words: unknown[]) => Promise<unknown> | AsyncIterable<unknown>

/** Returns the items of a list. */
export const all = async <Item>(list: AsyncIterable<Item>): Promise<Item[]> => {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}

/** Makes the call, compares its result or error, and returns the result. */
export const expectCall = async (client: DebitCollection, step: SdkCall): Promise<unknown> => {
  const { call, arguments: words = [], options, result, error } = step
  const [method = '', group] = call.split('.').toReversed().map(camelCase)
  const owner = (group ? client[group as 'banks'] : client) as unknown as Record<string, Method>
  const returned = owner[method]?.(...words, ...(options ? [camelCased(options)] : [])) ?? []
  const outcome = Symbol.asyncIterator in returned ? all(returned) : returned
  if (error) {
    const { class: name, ...members } = error
    await expect(outcome).rejects.toMatchObject({ name, ...camelCased(members) })
    return undefined
  }
  const value = (await outcome) ?? null
  if (result !== undefined) expect({ value }).toMatchObject({ value: result })
  return value
}
