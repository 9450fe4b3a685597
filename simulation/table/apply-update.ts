import { invalid } from './errors.ts'
import type { Source, Update } from './parse-update.ts'
import { type Bindings, memberOf, type Path, stepsIn, valueAt } from './paths.ts'
import { isList, isMap, type Value } from './values.ts'

type Members = { [name: string]: Value }

/** What an update makes of an item: a new one that shares with the old one what stays as it was. */
export const updated = (
  item: { readonly [name: string]: Value },
  { set, add, remove, isDeep }: Update,
  bindings: Bindings,
): { readonly [name: string]: Value } => {
  const draft: Members = { ...item }
  // All is computed from the item as it was.
  for (const { path, source } of isDeep ? inOrder(set, bindings) : set) {
    place(draft, path, sourceOf(source, item, bindings), bindings)
  }
  for (const { path, by } of add) {
    place(draft, path, added(valueAt(item, path, bindings), bindings.values[by.name]), bindings)
  }
  for (const steps of inRemovalOrder(remove, bindings)) takeAway(draft, steps, item)
  return isDeep ? frozen(draft) : Object.freeze(draft)
}

/** What was opened on the way; all else is frozen already. */
const frozen = (members: Members): Members => {
  for (const name in members) freeze(members[name])
  return Object.freeze(members)
}

const freeze = (value: Value | undefined): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  for (const member of Object.values(value)) freeze(member)
  Object.freeze(value)
}

const sourceOf = (source: Source, item: Value, bindings: Bindings): Value => {
  switch (source.kind) {
    case 'path':
      return required(valueAt(item, source, bindings))
    case 'value':
      return required(bindings.values[source.name])
    case 'otherwise': {
      // An attribute that is null is there.
      const value = valueAt(item, source.path, bindings)
      return value === undefined ? sourceOf(source.source, item, bindings) : value
    }
    case 'appended': {
      const left = sourceOf(source.left, item, bindings)
      const right = sourceOf(source.right, item, bindings)
      if (!isList(left) || !isList(right)) throw wrongType()
      return Object.freeze([...left, ...right])
    }
    case 'sum':
    case 'difference': {
      const left = sourceOf(source.left, item, bindings)
      const right = sourceOf(source.right, item, bindings)
      return sum(left, right, source.kind === 'sum' ? 1 : -1)
    }
  }
}

const required = (value: Value | undefined): Value => {
  if (value !== undefined) return value
  throw invalid('The provided expression refers to an attribute that does not exist in the item')
}

const wrongType = (): Error =>
  invalid('An operand in the update expression has an incorrect data type')

const DIGITS = 15

const sum = (left: Value, right: Value, sign: 1 | -1): number => {
  if (typeof left !== 'number' || typeof right !== 'number') throw wrongType()
  const result = left + sign * right
  if (Math.abs(result) > Number.MAX_SAFE_INTEGER) throw new Error(`${result} is no exact number`)
  // DynamoDB reckons in decimals; these are as many as a number evaluate for certain.
  return Number.isInteger(result) ? result : Number(result.toPrecision(DIGITS))
}

const added = (before: Value | undefined, by: Value | undefined): number => {
  if (typeof by !== 'number') throw wrongType()
  return before === undefined ? by : sum(before, by, 1)
}

const noSuchPlace = (): Error =>
  invalid('The document path provided in the update expression is invalid for update')

/** Copies what lies on the way to a place, and nothing else. */
const place = (draft: Members, path: Path, value: Value, bindings: Bindings): void => {
  const steps = stepsIn(path, bindings)
  const last = steps.pop() ?? ''
  write(opened(draft, steps), last, value)
}

const write = (into: Members | Value[], step: string | number, value: Value): void => {
  if (Array.isArray(into)) {
    if (typeof step !== 'number') throw noSuchPlace()
    // Beyond the end is at the end.
    into[Math.min(step, into.length)] = value
    return
  }
  if (typeof step === 'number') throw noSuchPlace()
  into[step] = value
}

/** The list or map at a place, as a copy that may be written into. */
const opened = (draft: Members, steps: readonly (string | number)[]): Members | Value[] => {
  let at: Members | Value[] = draft
  for (const step of steps) {
    const member: Value | undefined = memberOf(at, step)
    const copy: Members | Value[] | undefined = isList(member)
      ? [...member]
      : isMap(member)
        ? { ...member }
        : undefined
    if (!copy) throw noSuchPlace()
    write(at, step, copy)
    at = copy
  }
  return at
}

type Steps = (string | number)[]

/** From the end of a list on, so that the positions before it stay what they were. */
const inRemovalOrder = (paths: readonly Path[], bindings: Bindings): Steps[] =>
  paths.map((path) => stepsIn(path, bindings)).sort(byPosition)

const byPosition = (one: Steps, other: Steps): number => {
  for (let n = 0; n < Math.min(one.length, other.length); n += 1) {
    const [a, b] = [one[n], other[n]]
    if (a === b) continue
    return typeof a === 'number' && typeof b === 'number' ? b - a : 0
  }
  return 0
}

/** What lies beyond the end of a list goes to its end in the order of the positions. */
const inOrder = (set: Update['set'], bindings: Bindings): Update['set'] =>
  [...set].sort((one, other) =>
    byPosition(stepsIn(other.path, bindings), stepsIn(one.path, bindings)),
  )

/** @param item as it was: what was written beyond the end of a list is not taken away again */
const takeAway = (draft: Members, steps: Steps, item: Value): void => {
  const before = steps.reduce<Value | undefined>(memberOf, item)
  const last = steps.pop() ?? ''
  const from = opened(draft, steps)
  if (Array.isArray(from)) {
    if (typeof last !== 'number') throw noSuchPlace()
    if (before !== undefined) from.splice(last, 1)
  } else {
    if (typeof last === 'number') throw noSuchPlace()
    delete from[last]
  }
}
