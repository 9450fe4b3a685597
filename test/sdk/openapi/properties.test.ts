import { expect, test } from 'vitest'
import { bankProtocol } from '../../../sdk/openapi/bank-protocol.ts'
import { openApi } from '../../../sdk/openapi/document.ts'
import { fieldDescriptions } from '../../../sdk/openapi/field-descriptions.ts'
import { type Json, schemaComponents } from '../../../sdk/openapi/schemas.ts'

/** Each property of the descriptions, and the forms of schemas that common generators support. */

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** Examples contain no schemas; conditions narrow properties, like the members next to a reference. */
const SKIPPED = ['example', 'examples', 'if', 'then']

/** Returns the objects of a document by their paths. */
const objectsIn = (value: Json, path = ''): [string, Json][] => [
  [path, value],
  ...Object.entries(value).flatMap(([key, member]) =>
    isObject(member) && !SKIPPED.includes(key) && !('$ref' in value)
      ? objectsIn(member, `${path}/${key}`)
      : [],
  ),
]

const objects = Object.entries({ openapi: openApi(), protocol: bankProtocol() }).flatMap(
  ([name, document]) => objectsIn(JSON.parse(JSON.stringify(document)), name),
)

type Field = { path: string; name: string; schema: Json }

const properties = objects.flatMap(([path, { properties = {}, $ref }]): Field[] =>
  $ref
    ? []
    : Object.entries(properties as Record<string, Json>).map(([name, schema]) => ({
        path: `${path}/${name}`,
        name,
        schema,
      })),
)

const parameters = objects.flatMap(([path, { name, in: place, ...schema }]): Field[] =>
  typeof name === 'string' && typeof place === 'string' ? [{ path, name, schema }] : [],
)

const fields = [...properties, ...parameters]

test('every property and every parameter has a description', () => {
  expect(properties.length).toBeGreaterThan(500)
  expect(fields.filter(({ schema }) => !schema.description).map(({ path }) => path)).toEqual([])
})

test('every description of a field is that of a property or a parameter', () => {
  const used = new Set(fields.map(({ name, schema }) => `${name}: ${schema.description}`))
  const rows = Object.entries(fieldDescriptions).map((row) => row.join(': '))
  expect(rows.filter((row) => !used.has(row))).toEqual([])
})

test('each schema has a form from which common generators build working clients', () => {
  const named = objects.filter(([path]) => /^\w+\/components\/schemas\/\w+$/.test(path))
  // Generators name inline bodies so.
  expect(named.filter(([path]) => path.endsWith('Request'))).toEqual([])
  const numbers = objects.filter(
    ([, { type, enum: values }]) =>
      type === 'number' && Array.isArray(values) && values.every(Number.isInteger),
  )
  expect(numbers).toEqual([])
  const nullable = objects.filter(
    ([, { type }]) => Array.isArray(type) && type.includes('null') && type.includes('object'),
  )
  expect(nullable).toEqual([])
  const empty = objects.filter(
    ([, { type, properties, additionalProperties }]) =>
      type === 'object' && !properties && additionalProperties === undefined,
  )
  expect(empty).toEqual([])
  expect(objects.filter(([, { const: value }]) => typeof value === 'boolean')).toEqual([])
  expect(schemaComponents.ProblemDetails).not.toHaveProperty('anyOf')
})
