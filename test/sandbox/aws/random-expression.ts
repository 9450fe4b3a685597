import { randomOf } from '../../../proofs/simulation/engine/random.ts'

/** Generates expressions of every kind that the simulated table supports. */

/** Random choices, equal for equal seeds. */
export type Random = ReturnType<typeof newRandom>

export const newRandom = (seed: number) => {
  const random = randomOf(seed)
  return {
    ...random,
    /** Returns true once in so many times. */
    once: (oneIn: number): boolean => random.below(oneIn) === 0,
    /** Returns distinct elements in random order. */
    some: <T>(list: readonly T[], count: number): T[] => {
      const remaining = [...list]
      return Array.from({ length: Math.min(count, remaining.length) }, () =>
        remaining.splice(random.below(remaining.length), 1),
      ).flat()
    },
  }
}

/** Collects the placeholders of one command. */
export type Naming = ReturnType<typeof newNaming>

export const newNaming = (random: Random) => {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  return {
    random,
    /** Returns an attribute or its `#name`. */
    name: (attribute: string): string => {
      if (!RESERVED.has(attribute) && !random.once(4)) return attribute
      names[`#${attribute}`] = attribute
      return `#${attribute}`
    },
    value: (value: unknown): string => {
      const name = `:v${Object.keys(values).length}`
      values[name] = value
      return name
    },
    /** Returns the members of the command, sometimes without its values. */
    members: (): object => ({
      ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
      ...(Object.keys(values).length > 0 && !random.once(100)
        ? { ExpressionAttributeValues: values }
        : {}),
    }),
  }
}

const RESERVED = new Set(['status', 'version', 'work', 'history', 'list'])

const TEXTS = ['', 'a', 'ab', 'abc', 'b', 'é', '😀', '\uffee', 'a😀b']
const INTEGERS = [-3, 0, 1, 2, 3, 10]

const anyScalar = (random: Random): unknown =>
  random.pick([...TEXTS, ...INTEGERS, 0.5, 1.25, 900719925474099, true, false, null])

export const anyValue = (random: Random, depth = 2): unknown => {
  if (depth === 0 || !random.once(4)) return anyScalar(random)
  return random.once(2) ? anyList(random, depth) : anyMap(random, depth)
}

const anyList = (random: Random, depth = 2): unknown[] =>
  Array.from({ length: random.below(4) }, () => anyValue(random, depth - 1))

const anyMap = (random: Random, depth = 2): Record<string, unknown> =>
  Object.fromEntries(
    random
      .some(['a', 'b', 'l'], random.below(4))
      .map((name) => [name, anyValue(random, depth - 1)]),
  )

/** The attributes besides keys, by the kind of their value. */
const MEMBERS: Record<string, (random: Random) => unknown> = {
  s: (random) => random.pick(TEXTS),
  n: (random) => random.pick(INTEGERS),
  l: anyList,
  m: anyMap,
  x: anyValue,
  y: anyValue,
}

const ATTRIBUTES = [...Object.keys(MEMBERS), 'pk', 'sk', 'byTime', 'gone']

export const anyMembers = (random: Random): Record<string, unknown> =>
  Object.fromEntries(
    random
      .some(Object.keys(MEMBERS), random.below(7))
      .map((name) => [name, MEMBERS[name]?.(random)]),
  )

/** Prefers a value of the attribute's usual kind, so that many conditions are met. */
const likelyValue = ({ random, value }: Naming, attribute: string): string => {
  const member = MEMBERS[attribute]
  return value(member && random.below(4) > 0 ? member(random) : anyValue(random))
}

export const anyCondition = (naming: Naming, depth = 2, attributes = ATTRIBUTES): string => {
  const { random } = naming
  if (depth === 0 || random.once(2)) return anyTerm(naming, attributes)
  const left = anyCondition(naming, depth - 1, attributes)
  const right = anyCondition(naming, depth - 1, attributes)
  const forms = [`${left} AND ${right}`, `${left} OR ${right}`, `${left} and ${right}`]
  return random.once(4)
    ? `(${left} OR ${right}) AND ${anyTerm(naming, attributes)}`
    : random.pick(forms)
}

const anyTerm = (naming: Naming, attributes: readonly string[]): string => {
  const { random, value } = naming
  const attribute = random.pick(attributes)
  const name = naming.name(attribute)
  const inOrder = () => random.pick(['<', '<=', '>', '>='])
  const likely = () => `${name} = ${likelyValue(naming, attribute)}`
  const sized = () => `size(${name}) ${random.pick(['=', inOrder()])} ${value(random.below(4))}`
  const ordered = () => {
    const operand = attribute === 'n' ? random.pick(INTEGERS) : random.pick(TEXTS)
    return `${name} ${inOrder()} ${value(operand)}`
  }
  return random.pick([
    () => `attribute_exists(${name})`,
    () => `attribute_not_exists(${name})`,
    () => `begins_with(${name}, ${value(random.pick(TEXTS))})`,
    attributes === ATTRIBUTES ? sized : ordered,
    () => `${name} BETWEEN ${value(random.below(2))} AND ${value(random.below(4) + 1)}`,
    () => `${name} BETWEEN ${value('a')} AND ${value(random.pick(['a', 'b', '😀']))}`,
    ordered,
    likely,
  ])()
}

type Clause = 'SET' | 'REMOVE' | 'ADD'

export const anyUpdate = (naming: Naming): string => {
  const { random } = naming
  const written = random.once(30) ? ATTRIBUTES : Object.keys(MEMBERS)
  const attributes = random.some(written, 1 + random.below(4))
  if (random.once(20)) attributes.push(attributes[0] ?? 's')
  const clauses: Record<Clause, string[]> = { SET: [], REMOVE: [], ADD: [] }
  for (const attribute of attributes) {
    const isNumber = attribute === 'n' || attribute === 'gone'
    const clause = random.pick<Clause>(['SET', 'SET', 'REMOVE', isNumber ? 'ADD' : 'SET'])
    clauses[clause].push(anyAction(clause, attribute, naming))
  }
  return Object.entries(clauses)
    .filter(([, actions]) => actions.length > 0)
    .map(([clause, actions]) => `${clause} ${actions.join(', ')}`)
    .join(' ')
}

const anyAction = (clause: Clause, attribute: string, naming: Naming): string => {
  const { random, value } = naming
  const name = naming.name(attribute)
  if (clause === 'REMOVE') return name
  if (clause === 'ADD') return `${name} ${value(random.pick([1, -2, 5]))}`
  return `${name} = ${attribute === 'n' ? anyInteger(name, naming) : anySource(name, attribute, naming)}`
}

/** Only `n` is added to: the table adds integers alone. */
const anyInteger = (name: string, { random, value }: Naming): string =>
  random.pick([
    () => `${name} + ${value(random.below(5))}`,
    () => `if_not_exists(${name}, ${value(0)})`,
    () => value(random.pick([...INTEGERS, 'a'])),
  ])()

const anySource = (name: string, attribute: string, naming: Naming): string => {
  const { random, value } = naming
  const other = (): string => naming.name(random.pick(ATTRIBUTES))
  return random.pick([
    () => `if_not_exists(${other()}, ${likelyValue(naming, attribute)})`,
    () => `list_append(${name}, ${value([anyScalar(random)])})`,
    () => `list_append(if_not_exists(${name}, ${value([])}), ${value([anyScalar(random)])})`,
    other,
    () => likelyValue(naming, attribute),
    () => likelyValue(naming, attribute),
  ])()
}
