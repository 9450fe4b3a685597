import { object } from 'valibot'
import { successReply } from '../../shared/api/envelope.ts'
import { type Operation, type OperationName, operations } from '../../shared/api/operations.ts'
import { descriptions } from './descriptions.ts'
import { exampleContext, exampleSignature } from './example-debit.ts'
import { fieldDescriptions } from './field-descriptions.ts'
import type { Description } from './operations/described.ts'
import { headersOf, refusalResponses } from './responses.ts'
import {
  componentRef,
  envelopeOf,
  type Json,
  schemaOf,
  text,
  withDescriptions,
  withNumbers,
} from './schemas.ts'

/** Converts `update-debit-transaction` or `transaction.created` to camel case. */
export const camel = (name: string): string =>
  name.replaceAll(/[-.]([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Converts `update-debit-transaction` to `UpdateDebitTransaction`. */
const pascal = (name: string): string =>
  name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())

// Generators name inline bodies `...Request`.
const bodyName = (name: OperationName): string => `${pascal(name)}Fields`

export const bodyComponent = (name: OperationName): [string, Json][] => {
  const { body, decimals }: Operation = operations[name]
  return body ? [[bodyName(name), withNumbers(schemaOf(body), decimals)]] : []
}

const requestBody = (name: OperationName): Json => {
  const { body, wrapper }: Operation = operations[name]
  if (!body) return {}
  const flat = { $ref: componentRef('schemas', bodyName(name)) }
  const wrapped = wrapper && {
    type: 'object',
    required: [wrapper],
    properties: withDescriptions({ [wrapper]: flat }),
  }
  return {
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: wrapped ? { oneOf: [flat, wrapped] } : flat,
          examples: descriptions[name].bodies,
        },
      },
    },
  }
}

const pathParameters = (name: OperationName): Json[] =>
  [...operations[name].path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => ({
    ...describeParameter(name, parameter),
    in: 'path',
    required: true,
    schema: pathSchema(name, parameter),
  }))

const pathSchema = (name: OperationName, parameter: string): Json => {
  const { schema } = descriptions[name].parameters?.[parameter] ?? {}
  if (!schema) throw new Error(`${parameter} of ${name} has no schema`)
  return schemaOf(schema)
}

const queryParameters = (name: OperationName): Json[] => {
  const { query }: Operation = operations[name]
  if (!query) return []
  const { properties, required } = schemaOf(query) as {
    properties: Record<string, Json>
    required: string[]
  }
  return Object.entries(properties).map(([key, { description: _, ...schema }]) => ({
    ...describeParameter(name, key),
    in: 'query',
    required: required.includes(key),
    schema,
  }))
}

const SIGNATURE_HEADERS = {
  'X-Signature': {
    ...text('Lowercase hex of the HMAC-SHA256; required if the provider signs requests'),
    example: exampleSignature.signature,
  },
  'X-Timestamp': {
    ...text('Epoch seconds, at most five minutes off; required if the provider signs requests'),
    example: exampleSignature.timestamp,
  },
}

const signatureParameters: Json[] = Object.keys(SIGNATURE_HEADERS).map((name) => ({
  $ref: componentRef('parameters', name),
}))

export const parameterComponents: Json = Object.fromEntries(
  Object.entries(SIGNATURE_HEADERS).map(([name, header]) => [
    name,
    { name, in: 'header', required: false, ...header },
  ]),
)

const describeParameter = (name: OperationName, parameter: string): Json => {
  const {
    description = fieldDescriptions[parameter],
    schema: _,
    ...rest
  } = descriptions[name].parameters?.[parameter] ?? {}
  return { name: parameter, description, ...rest }
}

const success = (name: OperationName): Json => {
  const { status } = operations[name]
  const {
    data,
    example,
    topLevel,
    page,
    headers = {},
    files = {},
    redirect,
  }: Description = descriptions[name]
  const isFile = Object.keys(files).length > 0
  const ofFiles = { 'Content-Disposition': 'attachment with a name, unless the reply is JSON' }
  const all = { ...headers, ...(isFile ? ofFiles : {}) }
  const own = Object.entries(all).map(([header, description]) => [header, text(description)])
  const { body } = successReply(example, status, exampleContext)
  return {
    [status]: {
      description: 'Success',
      headers: { ...headersOf(status), ...Object.fromEntries(own) },
      content: {
        // First, because some generators know one type of a reply.
        'application/json': {
          schema: envelopeOf(
            schemaOf(data),
            topLevel && schemaOf(object(topLevel)),
            page && schemaOf(object(page)),
          ),
          example: JSON.parse(body),
        },
        ...Object.fromEntries(
          Object.entries(files).map(([type, text]) => [
            type,
            { schema: { type: 'string' }, example: text },
          ]),
        ),
      },
    },
    ...(redirect ? { 303: redirection(redirect) } : {}),
  }
}

const redirection = (data: Description['data']): Json => ({
  description: 'Report too large for a reply; fetch it from the given URL',
  headers: { ...headersOf(303), Location: text('URL of the report, as in the body') },
  content: { 'application/json': { schema: envelopeOf(schemaOf(data)) } },
})

/** Describes where a list takes and shows its cursor. */
const pagination = (name: OperationName): Json =>
  'next_cursor' in ((descriptions[name] as Description).page ?? {})
    ? {
        'x-pagination': {
          parameter: 'cursor',
          next: 'meta.next_cursor',
          more: 'meta.has_more',
          items: name === 'list-debit-transactions' ? 'data.transactions' : 'data',
        },
      }
    : {}

export const operationOf = (name: OperationName): Json => {
  const { caller, limit } = operations[name]
  const { tag, summary, description } = descriptions[name]
  const parameters = [
    ...pathParameters(name),
    ...queryParameters(name),
    ...(caller === 'provider' ? signatureParameters : []),
  ]
  return {
    operationId: camel(name),
    tags: [tag],
    summary,
    description,
    security: [{ [caller]: [] }],
    'x-rate-limit': limit,
    ...pagination(name),
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(name),
    responses: { ...success(name), ...refusalResponses(name) },
  }
}
