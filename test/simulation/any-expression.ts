import type { Random } from './random.ts'

/** Expressions of every kind, about the attributes of {@link anyItem}. */

/** Gathers what the placeholders of one command stand for. */
export type Naming = {
  random: Random
  /** A path, some of its names behind placeholders. */
  path: (path: string) => string
  value: (value: unknown) => string
  /** The members of the command. */
  members: () => {
    ExpressionAttributeNames?: Record<string, string>
    ExpressionAttributeValues?: Record<string, unknown>
  }
}

export const namingOf = (random: Random): Naming => {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const alias = (name: string): string => {
    names[`#${name}`] = name
    return `#${name}`
  }
  return {
    random,
    path: (path) =>
      path.replaceAll(/[a-z]+/gi, (name) =>
        RESERVED.has(name) || random.once(4) ? alias(name) : name,
      ),
    value: (value) => {
      const name = `:v${Object.keys(values).length}`
      values[name] = value
      return name
    },
    members: () => ({
      ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
      ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
    }),
  }
}

const RESERVED = new Set(['status', 'version', 'work', 'history', 'list', 'map'])

const TEXTS = ['', 'a', 'ab', 'abc', 'b', 'é', '😀', '\uffee', 'a😀b']
const NUMBERS = [-3, 0, 1, 2, 3, 10, 0.5, 1.25, 900719925474099]

export const anyScalar = (random: Random): unknown =>
  random.pick([
    () => random.pick(TEXTS),
    () => random.pick(NUMBERS),
    () => random.pick([true, false]),
    () => null,
  ])()

export const anyValue = (random: Random, depth = 2): unknown => {
  if (depth === 0 || !random.once(4)) return anyScalar(random)
  return random.once(2) ? anyList(random, depth) : anyMap(random, depth)
}

const anyList = (random: Random, depth = 2): unknown[] =>
  Array.from({ length: random.below(4) }, () => anyValue(random, depth - 1))

const anyMap = (random: Random, depth = 2): Record<string, unknown> =>
  Object.fromEntries(
    random
      .some(['a', 'b', 'l', 'n'], random.below(4))
      .map((name) => [
        name,
        name === 'l' ? anyList(random, depth - 1) : anyValue(random, depth - 1),
      ]),
  )

/** The attributes that are no keys, by the kind of value that they mostly have. */
const MEMBERS: Record<string, (random: Random) => unknown> = {
  s: (random) => random.pick(TEXTS),
  n: (random) => random.pick(NUMBERS.slice(0, -1)),
  l: anyList,
  m: anyMap,
  x: anyValue,
  y: anyValue,
}

export const anyMembers = (random: Random): Record<string, unknown> =>
  Object.fromEntries(
    random
      .some(Object.keys(MEMBERS), random.below(7))
      .map((name) => [name, MEMBERS[name]?.(random)]),
  )

const PATHS = [
  ...['s', 'n', 'l', 'm', 'x', 'y', 'pk', 'sk', 'byTime', 'gone'],
  ...['l[0]', 'l[1]', 'l[3]', 'm.a', 'm.b', 'm.l', 'm.l[0]', 'm.n', 'x[0]', 'x.a', 'y.a.b', 's.a'],
]

/** One that is false or true for most items, whichever comes. */
export const anyCondition = (naming: Naming, depth = 2, about = PATHS): string => {
  const { random } = naming
  if (depth === 0 || random.once(2)) return leaf(naming, about)
  const one = anyCondition(naming, depth - 1, about)
  const other = (): string => anyCondition(naming, depth - 1, about)
  switch (random.below(6)) {
    case 0:
      return `${one} AND ${other()}`
    case 1:
      return `${one} OR ${other()}`
    case 2:
      return `(${one} OR ${other()}) AND ${leaf(naming, about)}`
    case 3:
      return `NOT (${one} and ${other()})`
    case 4:
      return `NOT ${one}`
    default:
      return `(${one}) OR NOT ${other()}`
  }
}

const anyPath = ({ random, path }: Naming): string => path(random.pick(PATHS))

/** Of the kind that most often stands at a path, so that many conditions hold. */
const likely = ({ random, value }: Naming, path: string): string => {
  const [first = ''] = path.replaceAll('#', '')
  const member = MEMBERS[first]
  return value(member && random.below(4) > 0 ? member(random) : anyValue(random))
}

const COMPARATORS = ['=', '=', '<>', '<', '<=', '>', '>=']

/** A comparison; most that ask for an order are with what has one. */
const comparison = (naming: Naming, path: string): string => {
  const { random, value } = naming
  const comparator = random.pick(COMPARATORS)
  const isOrdered = comparator.startsWith('<') || comparator.startsWith('>')
  const other =
    isOrdered && comparator !== '<>' && !random.once(30)
      ? value(path.endsWith('n') ? random.pick(NUMBERS) : random.pick(TEXTS))
      : likely(naming, path)
  return random.once(6) ? `${other} ${comparator} ${path}` : `${path} ${comparator} ${other}`
}

const leaf = (naming: Naming, about: readonly string[]): string => {
  const { random, value } = naming
  const path = naming.path(random.pick(about))
  switch (random.below(12)) {
    case 0:
      return `attribute_exists(${path})`
    case 1:
      return `attribute_not_exists(${path})`
    case 2:
      return `attribute_type(${path}, ${value(random.pick(['S', 'N', 'BOOL', 'NULL', 'L', 'M', 'SS']))})`
    case 3:
      return `begins_with(${path}, ${value(random.pick(TEXTS))})`
    case 4:
      return `contains(${path}, ${random.once(8) ? anyPath(naming) : likely(naming, path)})`
    case 5:
      return `size(${path}) ${random.pick(COMPARATORS)} ${value(random.below(4))}`
    case 6:
      return `${path} BETWEEN ${value(random.below(2))} AND ${value(random.below(4) + 1)}`
    case 7:
      return `${path} BETWEEN ${value('a')} AND ${value(random.pick(['a', 'b', '😀']))}`
    case 8:
      return `${path} IN (${likely(naming, path)}, ${likely(naming, path)})`
    case 9:
      return `${path} ${random.pick(COMPARATORS)} ${anyPath(naming)}`
    default:
      return comparison(naming, path)
  }
}

const WRITTEN = PATHS.filter((path) => !['pk', 'sk', 'byTime'].includes(path))

/** One of those that begin alike; two of a list or map may be written at once, and often are. */
const apart = (paths: readonly string[]): string[] =>
  paths.filter((path, n) => !paths.slice(0, n).some((one) => isWithin(one, path)))

const isWithin = (one: string, other: string): boolean => {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return long.startsWith(short) || (/\[/.test(one) !== /\[/.test(other) && one[0] === other[0])
}

export const anyUpdate = (naming: Naming): string => {
  const { random } = naming
  const some = random.some(random.once(30) ? PATHS : WRITTEN, 1 + random.below(4))
  const paths = random.once(20) ? some : apart(some)
  const clauses: Record<'SET' | 'REMOVE' | 'ADD', string[]> = { SET: [], REMOVE: [], ADD: [] }
  for (const path of paths) {
    const clause = random.pick(['SET', 'SET', 'SET', 'REMOVE', 'ADD'] as const)
    clauses[clause].push(action(clause, naming.path(path), naming))
  }
  return Object.entries(clauses)
    .filter(([, actions]) => actions.length > 0)
    .map(([clause, actions]) => `${clause} ${actions.join(', ')}`)
    .join(' ')
}

const action = (clause: 'SET' | 'REMOVE' | 'ADD', path: string, naming: Naming): string => {
  const { random, value } = naming
  switch (clause) {
    case 'SET':
      return `${path} = ${anySource(path, naming)}`
    case 'REMOVE':
      return path
    case 'ADD':
      return `${path} ${value(random.once(20) ? anyValue(random) : random.pick([1, -2, 5]))}`
  }
}

const anySource = (path: string, naming: Naming): string => {
  const { random, value } = naming
  switch (random.below(9)) {
    case 0:
      return `${path} + ${value(random.below(5))}`
    case 1:
      return `if_not_exists(${path}, ${value(0)}) - ${value(random.below(5))}`
    case 2:
      return `if_not_exists(${anyPath(naming)}, ${likely(naming, path)})`
    case 3:
      return `list_append(${path}, ${value([anyScalar(random)])})`
    case 4:
      return `list_append(${value([anyScalar(random)])}, if_not_exists(${path}, ${value([])}))`
    case 5:
      return anyPath(naming)
    default:
      return likely(naming, path)
  }
}

export const anyProjection = (naming: Naming): string =>
  apart(naming.random.some(PATHS, 1 + naming.random.below(4)))
    .map((path) => naming.path(path))
    .join(', ')
