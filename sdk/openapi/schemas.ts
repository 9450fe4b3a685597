import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { isObject } from '../../shared/domain/json.ts'
import { errors } from '../../shared/domain/refusal.ts'
import { fieldDescriptions, schemaFieldDescriptions } from './field-descriptions.ts'

/** Converts the valibot schemas of requests and replies to JSON Schema. */

export type Json = Record<string, unknown>

/** Rules that JSON Schema cannot express. Metadata adds the counterpart where one exists. */
const INEXPRESSIBLE = new Set(['brand', 'check', 'partial_check', 'to_lower_case', 'transform'])

const config: ConversionConfig = {
  target: 'draft-2020-12',
  // Describes the input of a schema, before transformations.
  typeMode: 'input',
  overrideAction: ({ valibotAction, jsonSchema }) => {
    if (INEXPRESSIBLE.has(valibotAction.type)) return jsonSchema
    // The last of several patterns is the narrowest.
    if (valibotAction.type === 'regex' && jsonSchema.pattern) {
      return { ...jsonSchema, pattern: (valibotAction as unknown as Patterned).requirement.source }
    }
    return undefined
  },
  overrideSchema: ({ valibotSchema, jsonSchema }) => {
    // Metadata contains the shape of a custom schema.
    if (valibotSchema.type === 'custom') return {}
    const { properties, type, enum: values } = jsonSchema
    // Generators of servers take a constant without a type for any value.
    if (jsonSchema.const !== undefined) {
      return { type: typeof jsonSchema.const === 'number' ? 'integer' : 'string', ...jsonSchema }
    }
    if (type === 'number' && values?.every(Number.isInteger))
      return { ...jsonSchema, type: 'integer' }
    return properties
      ? { ...jsonSchema, properties: withDescriptions(properties as Json) }
      : undefined
  },
}

type Patterned = { requirement: RegExp }

/** Returns a described header with a text. */
export const text = (description: string): Json => ({ description, schema: { type: 'string' } })

export const componentRef = (kind: string, name: string): string => `#/components/${kind}/${name}`

/** The description of a field, while its schema has a description of its own. */
const OF_FIELD = 'x-field-description'

export const withDescriptions = (properties: Json): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const description = fieldDescriptions[name]
      if (!description || !isObject(schema) || schema.description) return [name, schema]
      return [name, { ...schema, [schema.title ? OF_FIELD : 'description']: description }]
    }),
  )

/** The schemas with a title, by that name. Filled as schemas are converted. */
const named = new Map<string, Json>()

/** Adds the descriptions of a named schema, also to its forms in events and with attempts. */
const withOwnDescriptions = (name: string, schema: Json): Json => {
  const own = schemaFieldDescriptions[name.replace(/^Event|WithAttempts$/g, '')]
  if (!own) return schema
  const properties = Object.entries(schema.properties as Record<string, Json>)
  const described = properties.map(([field, value]) => {
    const description = own[field]
    return [field, description ? { ...value, description } : value]
  })
  return { ...schema, properties: Object.fromEntries(described) }
}

/** Returns a reference to a schema with a title. @throws Error if two schemas have the same title */
const toComponent = ({ title, [OF_FIELD]: ofField, ...members }: Json): Json => {
  const name = String(title)
  const schema = withOwnDescriptions(name, members)
  const text = JSON.stringify(schema)
  const earlier = named.get(name)
  if (earlier && JSON.stringify(earlier) !== text) throw new Error(`There are two schemas ${name}`)
  named.set(name, schema)
  return { $ref: componentRef('schemas', name), ...(ofField ? { description: ofField } : {}) }
}

/** Returns `type: [x, 'null']` for an alternative of x and null. Generators do not support it for objects. */
const withNullableType = (schema: Json): Json => {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== 'null') return schema
  const [alternative] = anyOf as Json[]
  const { type } = alternative ?? {}
  if (typeof type !== 'string' || type === 'object' || alternative?.const !== undefined)
    return schema
  const choices = Array.isArray(alternative?.enum) && { enum: [...alternative.enum, null] }
  return { ...alternative, type: [type, 'null'], ...choices, ...rest }
}

/** States that a free-form object has any members, without which generators give it none. */
const withOpenMembers = (schema: Json): Json =>
  schema.type === 'object' && !schema.properties
    ? { ...schema, additionalProperties: schema.additionalProperties ?? true }
    : schema

const simplified = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(simplified)
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([key, member]) => [key, simplified(member)])
  const schema = withOpenMembers(withNullableType(Object.fromEntries(members)))
  return typeof schema.title === 'string' ? toComponent(schema) : schema
}

/** Converts a schema. Each schema in it with a title becomes a component. */
export const schemaOf = (schema: GenericSchema): Json => {
  const { $schema, ...rest } = toJsonSchema(schema, config)
  // Drops members that are undefined.
  return simplified(JSON.parse(JSON.stringify(rest))) as Json
}

/** Returns the named schemas to which a part of a document refers, directly or not. */
export const componentsOf = (part: Json, found = new Map<string, Json>()): Json => {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const schema = named.get(name)
    if (!schema || found.has(name)) continue
    found.set(name, schema)
    componentsOf(schema, found)
  }
  return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Allows numbers in decimal fields, because the service validates their source text. */
export const withNumbers = (schema: Json, decimals: readonly string[] = []): Json => {
  const properties = schema.properties as Record<string, Json>
  const decimalFields = decimals.map((name) => [name, withNumber(properties[name] ?? {})])
  return { ...schema, properties: { ...properties, ...Object.fromEntries(decimalFields) } }
}

const withNumber = (schema: Json): Json => {
  const [text, ...others] = [schema.type].flat()
  return text === 'string' ? { ...schema, type: [text, 'number', ...others] } : schema
}

const meta = {
  type: 'object',
  required: ['timestamp', 'request_id', 'api_version'],
  properties: withDescriptions({
    timestamp: { type: 'string', format: 'date-time' },
    request_id: { type: 'string' },
    api_version: { type: 'string', const: 'v1' },
  }),
}

const GATEWAY = 'in replies of the gateway: the header Date has the time'
const FIREWALL = 'in replies of the firewall'

const problemMeta = {
  ...meta,
  properties: {
    ...meta.properties,
    timestamp: {
      type: ['string', 'null'],
      format: 'date-time',
      description: `${fieldDescriptions.timestamp}; null ${GATEWAY}`,
    },
    request_id: {
      type: ['string', 'null'],
      description: `${fieldDescriptions.request_id}; null ${FIREWALL}`,
    },
  },
}

const details = { $ref: componentRef('schemas', 'ProblemDetails') }

// Any value: generated clients do not compile with alternatives of an object, a list and a text.
const detailsSchema = { description: fieldDescriptions.details }

const categories = [...new Set(Object.values(errors).map(({ category }) => category))].sort()

const problem = {
  type: 'object',
  required: ['success', 'error', 'meta'],
  properties: withDescriptions({
    success: { type: 'boolean' },
    error: {
      type: 'object',
      required: ['code', 'message', 'category', 'severity'],
      properties: withDescriptions({
        code: { type: 'integer' },
        message: { type: 'string' },
        category: { enum: categories },
        severity: { enum: ['low', 'medium', 'high', 'critical'] },
        doc_url: { type: 'string', format: 'uri' },
        details,
      }),
    },
    details,
    meta: { $ref: componentRef('schemas', 'ProblemMeta') },
  }),
}

export const schemaComponents: Json = {
  Meta: meta,
  Problem: problem,
  ProblemDetails: detailsSchema,
  ProblemMeta: problemMeta,
}

/** Returns the schema of a success envelope: `data`, its sibling members, and `meta` with pagination. */
export const envelopeOf = (data: Json, siblings?: Json, page?: Json): Json => {
  const siblingProperties = (siblings?.properties ?? {}) as Json
  const metaSchema = page
    ? {
        ...meta,
        required: [...meta.required, ...((page.required ?? []) as string[])],
        properties: { ...meta.properties, ...(page.properties as Json) },
      }
    : { $ref: componentRef('schemas', 'Meta') }
  return {
    type: 'object',
    required: ['success', ...Object.keys(siblingProperties), 'data', 'meta'],
    properties: withDescriptions({
      success: { type: 'boolean' },
      ...siblingProperties,
      data,
      meta: metaSchema,
    }),
  }
}
