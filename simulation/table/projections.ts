import { parsing, type Reader } from './expression-reader.ts'
import { type Bindings, memberOf, type Path, parsePath, stepIn } from './paths.ts'
import type { Value } from './values.ts'

const parseProjection = (reader: Reader): Path[] => {
  const paths = [parsePath(reader)]
  while (reader.accept(',')) paths.push(parsePath(reader))
  return paths
}

export const parseProjectionText = parsing(parseProjection)

/** What is wanted of a map or list: all of it, or these members of it. */
type Wanted = { isWhole: boolean; members: Map<string | number, Wanted> }

const nothing = (): Wanted => ({ isWhole: false, members: new Map() })

/** The parts of an item that paths lead to, in the item's own shape; lists close up. */
export const projected = (
  item: { readonly [name: string]: Value },
  paths: readonly Path[],
  bindings: Bindings,
): { readonly [name: string]: Value } => {
  const root = nothing()
  for (const { steps } of paths) {
    let wanted = root
    for (const step of steps) {
      const name = stepIn(step, bindings)
      const member = wanted.members.get(name) ?? nothing()
      wanted.members.set(name, member)
      wanted = member
    }
    wanted.isWhole = true
  }
  return (partOf(item, root) ?? {}) as { readonly [name: string]: Value }
}

const partOf = (value: Value, wanted: Wanted): Value | undefined => {
  if (wanted.isWhole) return value
  const parts = [...wanted.members].flatMap(([step, members]) => {
    const member = memberOf(value, step)
    const part = member === undefined ? undefined : partOf(member, members)
    return part === undefined ? [] : [[step, part] as const]
  })
  if (parts.length === 0) return undefined
  return Array.isArray(value)
    ? parts.sort(([one], [other]) => Number(one) - Number(other)).map(([, part]) => part)
    : Object.fromEntries(parts)
}
