import type { Chance } from './chance.ts'

/** Expressions of every kind, about the attributes of {@link anyItem}. */

/** Gathers what the placeholders of one command stand for. */
export type Naming = {
  chance: Chance
  /** A path, some of its names behind placeholders. */
  path: (path: string) => string
  value: (value: unknown) => string
  /** The members of the command. */
  members: () => {
    ExpressionAttributeNames?: Record<string, string>
    ExpressionAttributeValues?: Record<string, unknown>
  }
}

export const namingOf = (chance: Chance): Naming => {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const alias = (name: string): string => {
    names[`#${name}`] = name
    return `#${name}`
  }
  return {
    chance,
    path: (path) =>
      path.replaceAll(/[a-z]+/gi, (name) =>
        RESERVED.has(name) || chance.once(4) ? alias(name) : name,
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

export const anyScalar = (chance: Chance): unknown =>
  chance.pick([
    () => chance.pick(TEXTS),
    () => chance.pick(NUMBERS),
    () => chance.pick([true, false]),
    () => null,
  ])()

export const anyValue = (chance: Chance, depth = 2): unknown => {
  if (depth === 0 || !chance.once(4)) return anyScalar(chance)
  return chance.once(2) ? anyList(chance, depth) : anyMap(chance, depth)
}

const anyList = (chance: Chance, depth = 2): unknown[] =>
  Array.from({ length: chance.below(4) }, () => anyValue(chance, depth - 1))

const anyMap = (chance: Chance, depth = 2): Record<string, unknown> =>
  Object.fromEntries(
    chance
      .some(['a', 'b', 'l', 'n'], chance.below(4))
      .map((name) => [
        name,
        name === 'l' ? anyList(chance, depth - 1) : anyValue(chance, depth - 1),
      ]),
  )

/** The attributes that are no keys, by the kind of value that they mostly have. */
const MEMBERS: Record<string, (chance: Chance) => unknown> = {
  s: (chance) => chance.pick(TEXTS),
  n: (chance) => chance.pick(NUMBERS.slice(0, -1)),
  l: anyList,
  m: anyMap,
  x: anyValue,
  y: anyValue,
}

export const anyMembers = (chance: Chance): Record<string, unknown> =>
  Object.fromEntries(
    chance
      .some(Object.keys(MEMBERS), chance.below(7))
      .map((name) => [name, MEMBERS[name]?.(chance)]),
  )

const PATHS = [
  ...['s', 'n', 'l', 'm', 'x', 'y', 'pk', 'sk', 'byTime', 'gone'],
  ...['l[0]', 'l[1]', 'l[3]', 'm.a', 'm.b', 'm.l', 'm.l[0]', 'm.n', 'x[0]', 'x.a', 'y.a.b', 's.a'],
]

/** One that is false or true for most items, whichever comes. */
export const anyCondition = (naming: Naming, depth = 2, about = PATHS): string => {
  const { chance } = naming
  if (depth === 0 || chance.once(2)) return leaf(naming, about)
  const one = anyCondition(naming, depth - 1, about)
  const other = (): string => anyCondition(naming, depth - 1, about)
  switch (chance.below(6)) {
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

const anyPath = ({ chance, path }: Naming): string => path(chance.pick(PATHS))

/** Of the kind that most often stands at a path, so that many conditions hold. */
const likely = ({ chance, value }: Naming, path: string): string => {
  const [first = ''] = path.replaceAll('#', '')
  const member = MEMBERS[first]
  return value(member && chance.below(4) > 0 ? member(chance) : anyValue(chance))
}

const COMPARATORS = ['=', '=', '<>', '<', '<=', '>', '>=']

/** A comparison; most that ask for an order are with what has one. */
const comparison = (naming: Naming, path: string): string => {
  const { chance, value } = naming
  const comparator = chance.pick(COMPARATORS)
  const isOrdered = comparator.startsWith('<') || comparator.startsWith('>')
  const other =
    isOrdered && comparator !== '<>' && !chance.once(30)
      ? value(path.endsWith('n') ? chance.pick(NUMBERS) : chance.pick(TEXTS))
      : likely(naming, path)
  return chance.once(6) ? `${other} ${comparator} ${path}` : `${path} ${comparator} ${other}`
}

const leaf = (naming: Naming, about: readonly string[]): string => {
  const { chance, value } = naming
  const path = naming.path(chance.pick(about))
  switch (chance.below(12)) {
    case 0:
      return `attribute_exists(${path})`
    case 1:
      return `attribute_not_exists(${path})`
    case 2:
      return `attribute_type(${path}, ${value(chance.pick(['S', 'N', 'BOOL', 'NULL', 'L', 'M', 'SS']))})`
    case 3:
      return `begins_with(${path}, ${value(chance.pick(TEXTS))})`
    case 4:
      return `contains(${path}, ${chance.once(8) ? anyPath(naming) : likely(naming, path)})`
    case 5:
      return `size(${path}) ${chance.pick(COMPARATORS)} ${value(chance.below(4))}`
    case 6:
      return `${path} BETWEEN ${value(chance.below(2))} AND ${value(chance.below(4) + 1)}`
    case 7:
      return `${path} BETWEEN ${value('a')} AND ${value(chance.pick(['a', 'b', '😀']))}`
    case 8:
      return `${path} IN (${likely(naming, path)}, ${likely(naming, path)})`
    case 9:
      return `${path} ${chance.pick(COMPARATORS)} ${anyPath(naming)}`
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
  const { chance } = naming
  const some = chance.some(chance.once(30) ? PATHS : WRITTEN, 1 + chance.below(4))
  const paths = chance.once(20) ? some : apart(some)
  const clauses: Record<'SET' | 'REMOVE' | 'ADD', string[]> = { SET: [], REMOVE: [], ADD: [] }
  for (const path of paths) {
    const clause = chance.pick(['SET', 'SET', 'SET', 'REMOVE', 'ADD'] as const)
    clauses[clause].push(action(clause, naming.path(path), naming))
  }
  return Object.entries(clauses)
    .filter(([, actions]) => actions.length > 0)
    .map(([clause, actions]) => `${clause} ${actions.join(', ')}`)
    .join(' ')
}

const action = (clause: 'SET' | 'REMOVE' | 'ADD', path: string, naming: Naming): string => {
  const { chance, value } = naming
  switch (clause) {
    case 'SET':
      return `${path} = ${anySource(path, naming)}`
    case 'REMOVE':
      return path
    case 'ADD':
      return `${path} ${value(chance.once(20) ? anyValue(chance) : chance.pick([1, -2, 5]))}`
  }
}

const anySource = (path: string, naming: Naming): string => {
  const { chance, value } = naming
  switch (chance.below(9)) {
    case 0:
      return `${path} + ${value(chance.below(5))}`
    case 1:
      return `if_not_exists(${path}, ${value(0)}) - ${value(chance.below(5))}`
    case 2:
      return `if_not_exists(${anyPath(naming)}, ${likely(naming, path)})`
    case 3:
      return `list_append(${path}, ${value([anyScalar(chance)])})`
    case 4:
      return `list_append(${value([anyScalar(chance)])}, if_not_exists(${path}, ${value([])}))`
    case 5:
      return anyPath(naming)
    default:
      return likely(naming, path)
  }
}

export const anyProjection = (naming: Naming): string =>
  apart(naming.chance.some(PATHS, 1 + naming.chance.below(4)))
    .map((path) => naming.path(path))
    .join(', ')
