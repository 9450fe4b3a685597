import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { errors } from '../shared/domain/refusal.ts'
import { BankSchema } from '../shared/views/bank.ts'
import { fieldDescriptions } from './field-descriptions.ts'

/** Converts the valibot schemas of requests and replies to JSON Schema. */

export type Json = Record<string, unknown>

/** Rules that JSON Schema cannot express. Metadata adds the counterpart where one exists. */
const INEXPRESSIBLE = new Set(['brand', 'check', 'partial_check', 'transform'])

const definitions = { Bank: BankSchema }

const config: ConversionConfig = {
  target: 'draft-2020-12',
  // Describes the input of a schema, before transformations.
  typeMode: 'input',
  definitions,
  overrideRef: ({ referenceId }) => componentRef('schemas', referenceId),
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
    const { properties } = jsonSchema
    return properties
      ? { ...jsonSchema, properties: withDescriptions(properties as Json) }
      : undefined
  },
}

type Patterned = { requirement: RegExp }

/** Returns a described header with a text. */
export const text = (description: string): Json => ({ description, schema: { type: 'string' } })

export const componentRef = (kind: string, name: string): string => `#/components/${kind}/${name}`

const withDescriptions = (properties: Json): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const description = fieldDescriptions[name]
      return [name, description ? { ...(schema as Json), description } : schema]
    }),
  )

const convert = (schema: GenericSchema, conversion: ConversionConfig): Json => {
  const { $schema, $defs, ...rest } = toJsonSchema(schema, conversion)
  // Drops members that are undefined.
  return JSON.parse(JSON.stringify(rest)) as Json
}

export const schemaOf = (schema: GenericSchema): Json => convert(schema, config)

/** Allows numbers in decimal fields, because the service validates their source text. */
export const withNumbers = (schema: Json, decimals: readonly string[] = []): Json => {
  const properties = schema.properties as Record<string, Json>
  const decimalFields = decimals.map((name) => [name, withNumber(properties[name] ?? {})])
  return { ...schema, properties: { ...properties, ...Object.fromEntries(decimalFields) } }
}

const withNumber = (schema: Json): Json => {
  // An optional field accepts null as another form.
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: schema.anyOf.map(withNumber) }
  return schema.type === 'string' ? { ...schema, type: ['string', 'number'] } : schema
}

const meta = {
  type: 'object',
  required: ['timestamp', 'request_id', 'api_version'],
  properties: withDescriptions({
    timestamp: { type: 'string', format: 'date-time' },
    request_id: { type: 'string' },
    api_version: { const: 'v1' },
  }),
}

const GATEWAY = 'in replies of the gateway: the header Date has the time'
const FIREWALL = 'in replies of the firewall'

const errorMeta = {
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

const messages = { type: 'array', items: { type: 'string' } }

const details = { $ref: componentRef('schemas', 'Details') }

const detailsSchema = {
  description: 'Messages of each refused field, or other details',
  anyOf: [
    { type: 'object', additionalProperties: { anyOf: [{ type: ['string', 'number'] }, messages] } },
    messages,
    { type: 'string' },
  ],
}

const categories = [...new Set(Object.values(errors).map(({ category }) => category))].sort()

const error = {
  type: 'object',
  required: ['success', 'error', 'meta'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'category', 'severity'],
      properties: {
        code: { type: 'integer', description: 'Published code of the error' },
        message: { type: 'string' },
        category: { enum: categories },
        severity: { enum: ['low', 'medium', 'high', 'critical'] },
        details,
      },
    },
    details,
    meta: { $ref: componentRef('schemas', 'ErrorMeta') },
  },
}

export const schemaComponents: Json = {
  Bank: convert(BankSchema, { ...config, definitions: {} }),
  Meta: meta,
  ErrorMeta: errorMeta,
  Details: detailsSchema,
  Error: error,
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
    properties: { success: { const: true }, ...siblingProperties, data, meta: metaSchema },
  }
}
