import { invalid } from './errors.ts'
import { type Reader, unexpected } from './expression-reader.ts'
import { isList, isMap, type Value } from './values.ts'

/** A place in an item: names (or their placeholders, `#name`) and positions in lists. */
export type Path = { kind: 'path'; steps: readonly (string | number)[] }

/** What placeholders stand for in one use of an expression. */
export type Bindings = {
  names: Readonly<Record<string, string>>
  values: Readonly<Record<string, Value>>
}

const NAME = /^[#A-Za-z]/
const POSITION = /^(?:0|[1-9]\d*)$/

export const parsePath = (reader: Reader): Path => {
  const steps: (string | number)[] = [nameIn(reader)]
  for (;;) {
    if (reader.accept('.')) steps.push(nameIn(reader))
    else if (reader.accept('[')) steps.push(positionIn(reader))
    else return { kind: 'path', steps }
  }
}

const nameIn = (reader: Reader): string => {
  const word = reader.next()
  if (!NAME.test(word)) throw unexpected(word)
  return word
}

const positionIn = (reader: Reader): number => {
  const word = reader.next()
  if (!POSITION.test(word)) throw unexpected(word)
  reader.expect(']')
  return Number(word)
}

/** A step with its placeholder replaced. */
export const stepIn = (step: string | number, { names }: Bindings): string | number =>
  typeof step === 'string' && step.charCodeAt(0) === 35 ? (names[step] ?? step) : step

export const stepsIn = ({ steps }: Path, bindings: Bindings): (string | number)[] =>
  steps.map((step) => stepIn(step, bindings))

/** The attribute that a path begins with. */
export const attributeIn = ({ steps }: Path, bindings: Bindings): string =>
  String(stepIn(steps[0] ?? '', bindings))

export const memberOf = (value: Value | undefined, step: string | number): Value | undefined => {
  if (typeof step === 'number') return isList(value) ? value[step] : undefined
  return isMap(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

export const valueAt = (
  item: Value | undefined,
  { steps }: Path,
  bindings: Bindings,
): Value | undefined => {
  let value = item
  for (const step of steps) {
    if (value === undefined) return undefined
    value = memberOf(value, stepIn(step, bindings))
  }
  return value
}

/**
 * No two paths of one expression may lead to one place, or one into the other; nor may one take
 * for a list what the other takes for a map.
 */
export const refuseOverlaps = (paths: readonly Path[], bindings: Bindings): void => {
  for (let n = 1; n < paths.length; n += 1) {
    for (let m = 0; m < n; m += 1) {
      if (meet(paths[n]?.steps ?? [], paths[m]?.steps ?? [], bindings)) {
        throw invalid('Two document paths overlap or conflict with each other')
      }
    }
  }
}

const meet = (one: Path['steps'], other: Path['steps'], bindings: Bindings): boolean => {
  const length = Math.min(one.length, other.length)
  for (let n = 0; n < length; n += 1) {
    const a = stepIn(one[n] ?? '', bindings)
    const b = stepIn(other[n] ?? '', bindings)
    if (a !== b) return typeof a !== typeof b
  }
  return true
}
