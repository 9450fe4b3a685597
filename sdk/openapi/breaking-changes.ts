import {
  type Comparison,
  compareSchemas,
  type Direction,
  objectIn,
  resolved,
} from './breaking-schemas.ts'
import type { Json } from './schemas.ts'

/** Compares two descriptions of the API by what callers rely on. */

type Documents = Comparison['documents']

type Report = (change: string) => void

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** Returns a comparison of schemas, which reports each component once for a direction. */
const schemaComparison = (documents: Documents, report: Report) => {
  const compared = new Set<string>()
  const comparison = (direction: Direction, own: Report): Comparison => {
    const component: Comparison['component'] = (name, ofComponent) => {
      const place = `schema ${name} of a ${ofComponent}`
      if (compared.has(place)) return
      compared.add(place)
      const [base, next] = [documents.base, documents.next].map((document) =>
        objectIn(objectIn(objectIn(document.components).schemas)[name]),
      ) as [Json, Json]
      const inComponent = comparison(ofComponent, (change) => report(`${place}: ${change}`))
      compareSchemas({ comparison: inComponent, path: '' }, base, next)
    }
    return { direction, documents, report: own, component }
  }
  return (direction: Direction, own: Report, [base, next]: readonly [Json, Json]) =>
    compareSchemas({ comparison: comparison(direction, own), path: '' }, base, next)
}

type CompareSchemas = ReturnType<typeof schemaComparison>

type Side = { operation: Json; parameters: Map<string, Json>; body: Json }

/** Returns an operation with the parameters of its path, without references. */
const sideOf = (document: Json, pathItem: Json, method: string): Side => {
  const operation = objectIn(pathItem[method])
  const parameters = [pathItem.parameters, operation.parameters]
    .flat()
    .filter(Boolean)
    .map((parameter) => resolved(parameter, document))
  const keyOf = ({ in: place, name }: Json): string =>
    place === 'header' ? `header ${String(name).toLowerCase()}` : `${place} parameter ${name}`
  return {
    operation: { security: document.security, ...operation },
    parameters: new Map(parameters.map((parameter) => [keyOf(parameter), parameter])),
    body: resolved(operation.requestBody, document),
  }
}

const schemaIn = (holder: unknown): Json => objectIn(objectIn(holder).schema)

/** Compares the contents of a body by their types. */
const compareContents = (
  [base, next]: readonly [Json, Json],
  report: Report,
  compare: (report: Report, schemas: [Json, Json]) => void,
): void => {
  const [before, after] = [objectIn(base.content), objectIn(next.content)]
  for (const [type, content] of Object.entries(before)) {
    if (!(type in after)) report(`${type} is removed`)
    else compare(report, [schemaIn(content), schemaIn(after[type])])
  }
}

const compareRequests = (base: Side, next: Side, report: Report, compare: CompareSchemas): void => {
  for (const [key, parameter] of next.parameters) {
    const before = base.parameters.get(key)
    if (parameter.required && !before?.required) report(`${key} is required`)
    const own: Report = (change) => report(`${key} ${change}`)
    if (before) compare('request', own, [schemaIn(before), schemaIn(parameter)])
  }
  for (const key of base.parameters.keys()) {
    if (!next.parameters.has(key)) report(`${key} is removed`)
  }
  const body: Report = (change) => report(`request ${change}`)
  if (next.body.required && !base.body.required) body('body is required')
  compareContents([base.body, next.body], body, (own, schemas) => compare('request', own, schemas))
}

const compareResponses = (
  [before, after]: [Json, Json],
  { base, next }: Documents,
  report: Report,
  compare: CompareSchemas,
): void => {
  for (const [status, response] of Object.entries(before)) {
    const own: Report = (change) => report(`response ${status} ${change}`)
    if (!(status in after)) {
      own('is removed')
      continue
    }
    const sides = [resolved(response, base), resolved(after[status], next)] as const
    const [headers, nextHeaders] = sides.map((side) =>
      Object.keys(objectIn(side.headers)).map((name) => name.toLowerCase()),
    )
    for (const name of headers ?? []) {
      if (!nextHeaders?.includes(name)) own(`header ${name} is removed`)
    }
    const [codes, nextCodes] = sides.map((side) => [side['x-error-codes'] ?? []].flat())
    for (const code of codes ?? []) {
      if (!nextCodes?.includes(code)) own(`error code ${code} is removed`)
    }
    compareContents(sides, own, (each, schemas) => compare('response', each, schemas))
  }
}

/** Compares the events that the service sends: their headers and bodies are its responses. */
const compareWebhook = (base: Side, next: Side, report: Report, compare: CompareSchemas): void => {
  for (const [key, { required }] of base.parameters) {
    const after = next.parameters.get(key)
    if (!after) report(`${key} is removed`)
    else if (required && !after.required) report(`${key} can be absent`)
  }
  compareContents([base.body, next.body], report, (own, schemas) =>
    compare('response', own, schemas),
  )
}

/** Returns a line for each change that can break a caller. */
export const breakingChanges = (base: Json, next: Json): string[] => {
  const documents = { base, next }
  const lines = new Set<string>()
  const compare = schemaComparison(documents, (line) => lines.add(line))
  for (const kind of ['paths', 'webhooks']) {
    const after = objectIn(next[kind])
    for (const [path, item] of Object.entries(objectIn(base[kind]))) {
      const [before, pathItem] = [objectIn(item), objectIn(after[path])]
      const title = kind === 'paths' ? path : `webhook ${path}`
      if (!(path in after)) lines.add(`${title} is removed`)
      for (const method of path in after ? METHODS.filter((name) => name in before) : []) {
        const name = kind === 'paths' ? `${method.toUpperCase()} ${title}` : title
        const report: Report = (change) => lines.add(`${name}: ${change}`)
        if (!(method in pathItem)) {
          lines.add(`${name} is removed`)
          continue
        }
        const sides = [sideOf(base, before, method), sideOf(next, pathItem, method)] as const
        if (kind === 'webhooks') {
          compareWebhook(...sides, report, compare)
          continue
        }
        compareOperation(sides, documents, report, compare)
      }
    }
  }
  return [...lines]
}

const compareOperation = (
  [base, next]: readonly [Side, Side],
  documents: Documents,
  report: Report,
  compare: CompareSchemas,
): void => {
  if (
    JSON.stringify(securityOf(base, documents.base)) !==
    JSON.stringify(securityOf(next, documents.next))
  )
    report('security is changed')
  compareRequests(base, next, report, compare)
  const responses = [base, next].map(({ operation }) => objectIn(operation.responses)) as [
    Json,
    Json,
  ]
  compareResponses(responses, documents, report, compare)
}

/** Returns the requirements with the schemes that they name. */
const securityOf = ({ operation }: Side, document: Json): unknown[] => {
  const schemes = objectIn(objectIn(document.components).securitySchemes)
  return ((operation.security as Json[] | undefined) ?? []).map((requirement) =>
    Object.entries(requirement).map(([name, scopes]) => {
      const { description: _, ...scheme } = objectIn(schemes[name])
      return [name, scopes, scheme]
    }),
  )
}

/** Returns the lines that no entry `BREAKING:` of a change log names. */
export const unnamedChanges = (changes: readonly string[], changelog: string): string[] => {
  const plain = (text: string): string =>
    text
      .replaceAll(/[`*\\]/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
  // An entry continues on indented lines.
  const entries = changelog
    .split(/\n(?=\s*(?:[-*#]|\n))/)
    .flatMap((entry) => entry.split('BREAKING:').slice(1))
    .map(plain)
  return changes.filter((change) => {
    const named = plain(change)
    return !entries.some(
      (entry) => entry.startsWith(named) && /^[.,;:]?(?:\s|$)/.test(entry.slice(named.length)),
    )
  })
}
