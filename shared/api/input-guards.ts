import httpJsonBodyParser from '@middy/http-json-body-parser'
import { type FieldMessages, invalid, Refusal } from '../domain/refusal.ts'
import { parseInput } from '../domain/validation.ts'
import { type ApiEvent, type Guard, orThrow } from './context.ts'
import { bodyText, checkReserved, fieldsOf, malformed, originalBody, scan } from './json-body.ts'
import type { Operation } from './operations.ts'

/** Rejects a body that is not sent as uncompressed JSON in UTF-8: 400/1400. */
const checkHeaders = ({ context }: ApiEvent): Refusal | undefined => {
  const [type = '', ...types] = context.headers.get('content-type') ?? []
  if (types.length > 0) return malformed('Content-Type must be given once')
  const [name, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase())
  if (name !== 'application/json') return malformed('Content-Type must be application/json')
  const charsets = parameters
    .map((parameter) => parameter.replaceAll(/[\s"]/g, ''))
    .filter((parameter) => parameter.startsWith('charset='))
  if (charsets.some((charset) => charset !== 'charset=utf-8')) {
    return malformed('charset of Content-Type must be UTF-8')
  }
  const encodings = context.headers.get('content-encoding') ?? []
  return encodings.some((encoding) => !/^identity$/i.test(encoding))
    ? malformed('Content-Encoding must be identity or absent')
    : undefined
}

/** Checks the text of a body before it is parsed (docs/api.md#bodies). */
const textGuard = (operation: Operation): Guard => ({
  before: ({ event }) => {
    const { body, isBase64Encoded } = event
    event.context.body = () => originalBody(body, isBase64Encoded)
    orThrow(checkHeaders(event))
    const text = orThrow(bodyText(event.body, event.isBase64Encoded))
    const scanned = orThrow(scan(text))
    orThrow(checkReserved(text, scanned, operation))
    event.context.numbers = scanned.numbers
    event.body = text
    event.isBase64Encoded = false
  },
})

/** Checks the parsed body against the operation's schema: 422/1007, or a field's own code. */
const inputGuard = (
  schema: NonNullable<Operation['body']>,
  { decimals, wrapper, fieldCodes }: Operation,
): Guard => ({
  before: ({ event }) => {
    const { context } = event
    const names = Object.keys(schema.entries)
    const fields = orThrow(
      fieldsOf(event.body, context.numbers ?? [], { names, decimals, wrapper }),
    )
    context.input = orThrow(parseInput(schema, fields, fieldCodes))
  },
})

export const bodyGuards = (operation: Operation): Guard[] =>
  operation.body
    ? [
        textGuard(operation),
        httpJsonBodyParser({ disableContentTypeCheck: true }) as Guard,
        inputGuard(operation.body, operation),
      ]
    : []

/** Returns the query as one object. A repeated parameter or `name[]` becomes a list, which no schema accepts. */
const parametersOf = (event: ApiEvent): Record<string, unknown> => {
  const parameters = new Map<string, string | string[]>()
  for (const [key, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
    const name = key.replace(/\[.*$/s, '')
    const [value = ''] = values ?? []
    const isSingle = !parameters.has(name) && values?.length === 1 && name === key
    parameters.set(name, isSingle ? value : (values ?? []))
  }
  return Object.fromEntries(parameters)
}

/** Checks the query against the operation's schema: 422/1007 (docs/api.md#query-parameters). */
export const queryGuard = (operation: Operation): Guard => ({
  before: ({ event }) => {
    if (!operation.query) return
    const parameters = parametersOf(event)
    const query = parseInput(operation.query, parameters)
    const names = operation.queryNames
    event.context.query = orThrow(
      query instanceof Refusal ? published(query, parameters, names) : query,
    )
  },
})

/** Renames parameters, and replaces the messages of a repeated one, which concern its type. */
const published = (
  refusal: Refusal,
  parameters: Record<string, unknown>,
  names: Record<string, string> = {},
): Refusal =>
  invalid(
    Object.fromEntries(
      Object.entries(refusal.details as FieldMessages).map(([name, messages]) => [
        names[name] ?? name,
        Array.isArray(parameters[name]) ? ['must be given once'] : messages,
      ]),
    ),
  )
