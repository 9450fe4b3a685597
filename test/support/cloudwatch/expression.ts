/**
 * Evaluates expressions of CloudWatch's metric math for one datapoint: numbers, ids, arithmetic,
 * comparisons, IF, FILL, SUM and METRICS. An operation on a missing value has no value.
 */

type Value = number | undefined
type Result = Value | Value[]
/** Returns the datapoint of each id; those of an array begin with its prefix. */
type Lookup = { one: (id: string) => Value; all: (prefix: string) => Value[] }
export type Expression = (lookup: Lookup) => Value

const operations: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '>=': (a, b) => Number(a >= b),
  '<': (a, b) => Number(a < b),
}

/** By precedence, the weakest first. */
const LEVELS = [
  ['>=', '<'],
  ['+', '-'],
  ['*', '/'],
]

const single = (result: Result): Value => {
  if (Array.isArray(result)) throw new Error('An array is no value')
  return result
}

const functions: Record<string, (...parameters: Result[]) => Result> = {
  FILL: (result, filler) => {
    const fill = (value: Value) => value ?? single(filler)
    return Array.isArray(result) ? result.map(fill) : fill(result)
  },
  SUM: (result) => {
    const values = [result].flat().filter((value) => value !== undefined)
    return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) : undefined
  },
  IF: (condition, yes, no) => {
    const value = single(condition)
    return value === undefined ? undefined : value === 0 ? no : yes
  },
}

type Node = (lookup: Lookup) => Result

const binary =
  (operator: string, left: Node, right: Node): Node =>
  (lookup) => {
    const [a, b] = [single(left(lookup)), single(right(lookup))]
    return a === undefined || b === undefined ? undefined : operations[operator]?.(a, b)
  }

/** @throws Error for anything that is not implemented */
export const parseExpression = (text: string): Expression => {
  const tokens = text.match(/"[^"]*"|>=|[\w.]+|[-+*/<(),]/g) ?? []
  if (tokens.join('') !== text.replaceAll(' ', '')) throw new Error(`Unknown syntax: ${text}`)
  const take = (expected?: string): string => {
    const token = tokens.shift() ?? ''
    if (expected && token !== expected) throw new Error(`${expected} is missing in ${text}`)
    return token
  }
  const parameters = (): Node[] => {
    const nodes = [level(0)]
    while (tokens[0] === ',') {
      take()
      nodes.push(level(0))
    }
    take(')')
    return nodes
  }
  const primary = (): Node => {
    const token = take()
    if (token === '(') {
      const node = level(0)
      take(')')
      return node
    }
    if (/^[\d.]+$/.test(token)) return () => Number(token)
    if (/^"/.test(token)) throw new Error(`Only METRICS has a text: ${text}`)
    if (tokens[0] !== '(') return ({ one }) => one(token)
    take()
    if (token === 'METRICS') {
      const prefix = take().slice(1, -1)
      take(')')
      return ({ all }) => all(prefix)
    }
    const called = functions[token]
    if (!called) throw new Error(`The function ${token} is not implemented`)
    const nodes = parameters()
    return (lookup) => called(...nodes.map((node) => node(lookup)))
  }
  const level = (n: number): Node => {
    const operators = LEVELS[n]
    if (!operators) return primary()
    let node = level(n + 1)
    while (operators.includes(tokens[0] ?? '')) {
      const operator = take()
      node = binary(operator, node, level(n + 1))
    }
    return node
  }
  const node = level(0)
  if (tokens.length > 0) throw new Error(`${tokens[0]} is unexpected in ${text}`)
  return (lookup) => single(node(lookup))
}
