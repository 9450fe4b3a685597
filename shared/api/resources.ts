import { type OperationName, operationNames, operations } from './operations.ts'

/** What stands at a path of the API. */

type Matched = { parameters: Record<string, string>; literals: number }

const matched = (template: string, path: string): Matched | undefined => {
  const wanted = template.split('/')
  const segments = path.split('/')
  if (wanted.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [n, want] of wanted.entries()) {
    const segment = segments[n] ?? ''
    if (want.startsWith('{') && segment !== '') parameters[want.slice(1, -1)] = segment
    else if (want !== segment) return undefined
  }
  return { parameters, literals: wanted.length - Object.keys(parameters).length }
}

/** What stands at a path, as the gateway sees it: a literal segment goes before a parameter. */
export type Resource = {
  template: string
  /** As they stand in the path, not decoded. */
  parameters: Record<string, string>
  /** The operations there, by method; HEAD is that of GET. */
  methods: Partial<Record<string, OperationName>>
}

/** Decodes a path parameter. One that is malformed stays as it was sent; no valid value holds `%`. */
export const decodedParameter = (raw: string): string => {
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}

const templates = [...new Set(operationNames.map((name) => operations[name].path))]

export const resourceAt = (path: string): Resource | undefined => {
  const [best] = templates
    .flatMap((template) => {
      const match = matched(template, path)
      return match ? [{ template, ...match }] : []
    })
    .sort((a, b) => b.literals - a.literals)
  if (!best) return undefined
  const here = operationNames.filter((name) => operations[name].path === best.template)
  return {
    template: best.template,
    parameters: best.parameters,
    methods: Object.fromEntries(
      here.flatMap((name) => methodsOf(name).map((method) => [method, name])),
    ),
  }
}

/** The methods that the function of an operation answers. */
export const methodsOf = (name: OperationName): ('GET' | 'HEAD' | 'POST')[] => {
  const { method } = operations[name]
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}
