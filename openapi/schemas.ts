import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { errors } from '../shared/domain/refusal.ts'
import { BankShape } from '../shared/views/transaction-shape.ts'
import { fieldDescriptions } from './field-descriptions.ts'

/** Converts the valibot schemas of requests and replies to JSON Schema. */

export type Json = Record<string, unknown>

/** Rules that JSON Schema cannot express. Metadata adds the counterpart where one exists. */
const UNTOLD = new Set(['brand', 'check', 'partial_check', 'transform'])

/** Shapes that are used often enough to be named components. */
const named = { Bank: BankShape }

const config: ConversionConfig = {
  target: 'draft-2020-12',
  // Describes the input of a schema, before transformations.
  typeMode: 'input',
  definitions: named,
  overrideRef: ({ referenceId }) => componentRef('schemas', referenceId),
  overrideAction: ({ valibotAction, jsonSchema }) => {
    if (UNTOLD.has(valibotAction.type)) return jsonSchema
    // The last of several patterns is the narrowest.
    if (valibotAction.type === 'regex' && jsonSchema.pattern) {
      return { ...jsonSchema, pattern: (valibotAction as unknown as Patterned).requirement.source }
    }
    return undefined
  },
  overrideSchema: ({ valibotSchema, jsonSchema }) => {
    // Its shape is in the metadata that follows.
    if (valibotSchema.type === 'custom') return {}
    const { properties } = jsonSchema
    return properties ? { ...jsonSchema, properties: explained(properties as Json) } : undefined
  },
}

type Patterned = { requirement: RegExp }

export const componentRef = (kind: string, name: string): string => `#/components/${kind}/${name}`

const explained = (properties: Json): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const description = fieldDescriptions[name]
      return [name, description ? { ...(schema as Json), description } : schema]
    }),
  )

const written = (schema: GenericSchema, converting: ConversionConfig): Json => {
  const { $schema, $defs, ...rest } = toJsonSchema(schema, converting)
  // Drops members that are undefined.
  return JSON.parse(JSON.stringify(rest)) as Json
}

export const schemaOf = (schema: GenericSchema): Json => written(schema, config)

/** Allows numbers in decimal fields, because the service validates their source text. */
export const withNumbers = (schema: Json, decimals: readonly string[] = []): Json => {
  const properties = schema.properties as Record<string, Json>
  const widened = decimals.map((name) => [name, withNumber(properties[name] ?? {})])
  return { ...schema, properties: { ...properties, ...Object.fromEntries(widened) } }
}

const withNumber = (schema: Json): Json => {
  // An optional field accepts null as another form.
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: schema.anyOf.map(withNumber) }
  return schema.type === 'string' ? { ...schema, type: ['string', 'number'] } : schema
}

const meta = {
  type: 'object',
  required: ['timestamp', 'request_id', 'api_version'],
  properties: explained({
    timestamp: { type: 'string', format: 'date-time' },
    request_id: { type: 'string' },
    api_version: { const: 'v1' },
  }),
}

const messages = { type: 'array', items: { type: 'string' } }

const details = { $ref: componentRef('schemas', 'Details') }

const detailForms = {
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
    meta: { $ref: componentRef('schemas', 'Meta') },
  },
}

export const schemaComponents: Json = {
  Bank: written(BankShape, { ...config, definitions: {} }),
  Meta: meta,
  Details: detailForms,
  Error: error,
}

/** Returns the schema of a success envelope: `data`, its sibling members, and `meta` with pagination. */
export const envelopeOf = (data: Json, beside?: Json, page?: Json): Json => {
  const besides = (beside?.properties ?? {}) as Json
  const pages = page
    ? {
        ...meta,
        required: [...meta.required, ...((page.required ?? []) as string[])],
        properties: { ...meta.properties, ...(page.properties as Json) },
      }
    : { $ref: componentRef('schemas', 'Meta') }
  return {
    type: 'object',
    required: ['success', ...Object.keys(besides), 'data', 'meta'],
    properties: { success: { const: true }, ...besides, data, meta: pages },
  }
}
