import { type OperationName, operationNames, operations } from './operations.ts'

type Match = { parameters: Record<string, string>; literals: number }

const matchTemplate = (template: string, path: string): Match | undefined => {
  const expected = template.split('/')
  const segments = path.split('/')
  if (expected.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, name] of expected.entries()) {
    const segment = segments[index] ?? ''
    if (name.startsWith('{') && segment !== '') parameters[name.slice(1, -1)] = segment
    else if (name !== segment) return undefined
  }
  return { parameters, literals: expected.length - Object.keys(parameters).length }
}

export type Resource = {
  template: string
  /** Undecoded. */
  parameters: Record<string, string>
  /** The operation of each method; HEAD has the operation of GET. */
  methods: Partial<Record<string, OperationName>>
}

/** Decodes a path parameter. A malformed one stays encoded and matches no object, as no id contains `%`. */
export const decodedParameter = (raw: string): string => {
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}

const templates = [...new Set(operationNames.map((name) => operations[name].path))]

/** Removes the slashes that API Gateway ignores: repeated ones at the start, and those at the end. */
export const routedPath = (path: string): string => {
  const segments = path.split('/')
  const isNamed = (segment: string): boolean => segment !== ''
  const first = segments.findIndex(isNamed)
  const named = segments.slice(first, segments.findLastIndex(isNamed) + 1)
  return `${path.startsWith('/') ? '/' : ''}${named.join('/')}`
}

/** Returns the resource of a path (docs/api.md#paths). A literal segment precedes a parameter. */
export const resourceAt = (path: string): Resource | undefined => {
  const routed = routedPath(path)
  const [best] = templates
    .flatMap((template) => {
      const match = matchTemplate(template, routed)
      return match ? [{ template, ...match }] : []
    })
    .sort((a, b) => b.literals - a.literals)
  if (!best) return undefined
  const names = operationNames.filter((name) => operations[name].path === best.template)
  return {
    template: best.template,
    parameters: best.parameters,
    methods: Object.fromEntries(
      names.flatMap((name) => methodsOf(name).map((method) => [method, name])),
    ),
  }
}

export const methodsOf = (name: OperationName): ('GET' | 'HEAD' | 'POST')[] => {
  const { method } = operations[name]
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}
