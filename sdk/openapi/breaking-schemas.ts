import { isObject } from '../../shared/domain/json.ts'
import type { Json } from './schemas.ts'

/** Finds what a caller of an earlier description cannot rely on any more, in schemas. */

/** `request` for what callers send, `response` for what they receive. */
export type Direction = 'request' | 'response'

export type Comparison = {
  direction: Direction
  /** The documents, in which references lead to components. */
  documents: Sides
  /** Records a change of the member at a path, which is empty for the whole. */
  report: (change: string) => void
  /** Compares a component that both sides refer to, once. */
  component: (name: string, direction: Direction) => void
}

type Sides = { base: Json; next: Json }

type MemberPlace = { comparison: Comparison; path: string }

export const objectIn = (value: unknown): Json => (isObject(value) ? value : {})

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Merges what both schemas require, as members next to a reference and `allOf` do. */
const merged = (one: Json, other: Json): Json => {
  const result = { ...one }
  for (const [key, value] of Object.entries(other)) {
    const earlier = result[key]
    if (key === 'required') result[key] = [...new Set([...listIn(earlier), ...listIn(value)])]
    else result[key] = isObject(earlier) && isObject(value) ? merged(earlier, value) : value
  }
  return result
}

/** Returns an object of a document without references and `allOf` at its top. */
export const resolved = (value: unknown, document: Json): Json => {
  const { $ref, allOf, ...own } = objectIn(value)
  const parts = [...(typeof $ref === 'string' ? [at(document, $ref)] : []), ...listIn(allOf)]
  return parts.length === 0
    ? own
    : merged(
        parts.map((part) => resolved(part, document)).reduce((one, other) => merged(one, other)),
        own,
      )
}

const at = (document: Json, reference: string): unknown =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, part) => objectIn(value)[part], document)

const alternativesOf = ({ oneOf, anyOf }: Json): Json[] => listIn(oneOf ?? anyOf).map(objectIn)

const valuesOf = (schema: Json): unknown[] | undefined =>
  'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

const ALL_TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string']

const typesOf = (schema: Json, document: Json): string[] => {
  const { type, properties, ...rest } = resolved(schema, document)
  if (type) return [type].flat() as string[]
  const values = valuesOf(rest)
  if (values) return values.map(typeOf)
  const alternatives = alternativesOf(rest)
  if (alternatives.length > 0) return alternatives.flatMap((one) => typesOf(one, document))
  return properties ? ['object'] : ALL_TYPES
}

const covers = (types: readonly string[], type: string): boolean =>
  types.includes(type) || (type === 'integer' && types.includes('number'))

const report = ({ comparison, path }: MemberPlace, change: string): void =>
  comparison.report(path ? `member ${path} ${change}` : change)

/** Compares the types, or only whether null is one. */
const compareTypes = (
  place: MemberPlace,
  base: Json,
  next: Json,
  { onlyNull = false } = {},
): void => {
  const { direction, documents } = place.comparison
  const [before, after] = [typesOf(base, documents.base), typesOf(next, documents.next)]
  const [accepted, shown] = direction === 'request' ? [after, before] : [before, after]
  const extra = new Set(shown.filter((type) => !covers(accepted, type)))
  for (const type of extra) {
    if ((type === 'null') !== onlyNull) continue
    report(place, direction === 'request' ? `no longer accepts type ${type}` : `can be ${type}`)
  }
}

const compareValues = (place: MemberPlace, base: Json, next: Json): void => {
  const [before, after] = [valuesOf(base), valuesOf(next)]
  if (!after) return
  // A caller can receive fewer values.
  if (place.comparison.direction === 'response') return
  if (!before) report(place, `accepts only ${JSON.stringify(after)}`)
  for (const value of before ?? []) {
    if (value === null || after.includes(value)) continue
    report(place, `no longer accepts ${JSON.stringify(value)}`)
  }
}

const MINIMUMS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const MAXIMUMS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
/** Rules that this comparison does not understand, so any new form can be narrower. */
const RULES = [
  ...['pattern', 'format', 'multipleOf', 'uniqueItems', 'propertyNames', 'patternProperties'],
  ...['if', 'then', 'else', 'not', 'contains', 'dependentRequired', 'dependentSchemas'],
]

const compareRules = (place: MemberPlace, base: Json, next: Json): void => {
  if (place.comparison.direction === 'response') {
    if (base.format && base.format !== next.format) report(place, `has no format ${base.format}`)
    return
  }
  for (const [keywords, unlimited] of [
    [MINIMUMS, -Infinity] as const,
    [MAXIMUMS, Infinity] as const,
  ]) {
    for (const keyword of keywords) {
      const [before, after] = [base, next].map((schema) => Number(schema[keyword] ?? unlimited))
      const isNarrower =
        unlimited < 0 ? Number(after) > Number(before) : Number(after) < Number(before)
      if (isNarrower) report(place, `has ${keyword} ${after}`)
    }
  }
  for (const rule of RULES.filter((one) => one in next)) {
    if (JSON.stringify(base[rule]) !== JSON.stringify(next[rule]))
      report(place, `has another ${rule}`)
  }
}

const requiredIn = (schema: Json): Set<unknown> => new Set(listIn(schema.required))

const compareMembers = ({ comparison, path }: MemberPlace, base: Json, next: Json): void => {
  const isRequest = comparison.direction === 'request'
  const [before, after] = [objectIn(base.properties), objectIn(next.properties)]
  const [requiredBefore, requiredAfter] = [requiredIn(base), requiredIn(next)]
  const names = new Set([
    ...Object.keys(before),
    ...Object.keys(after),
    ...requiredAfter,
  ] as string[])
  for (const name of names) {
    const place = { comparison, path: path ? `${path}.${name}` : name }
    if (isRequest && requiredAfter.has(name) && !requiredBefore.has(name))
      report(place, 'is required')
    if (name in before && !(name in after)) report(place, 'is removed')
    else if (!isRequest && requiredBefore.has(name) && !requiredAfter.has(name))
      report(place, 'can be absent')
    if (name in before && name in after)
      compareSchemas(place, objectIn(before[name]), objectIn(after[name]))
  }
  const [othersBefore, othersAfter] = [base.additionalProperties, next.additionalProperties]
  if (isRequest && othersBefore !== false && othersAfter === false)
    report({ comparison, path }, 'no longer accepts other members')
  if (isObject(othersBefore) && isObject(othersAfter))
    compareSchemas({ comparison, path: `${path}.*` }, othersBefore, othersAfter)
}

/** Returns the only alternative that is not null, or the schema itself. */
const withoutNull = (schema: Json): Json => {
  const alternatives = alternativesOf(schema)
  const others = alternatives.filter(({ type }) => type !== 'null')
  if (others.length === alternatives.length) return schema
  return others.length === 1 ? objectIn(others[0]) : { oneOf: others }
}

const componentOf = ({ $ref }: Json): string | undefined =>
  typeof $ref === 'string' ? /^#\/components\/schemas\/(.+)$/.exec($ref)?.[1] : undefined

const choicesOf = (schema: Json, resolvedSchema: Json): Json[] => {
  const alternatives = alternativesOf(resolvedSchema)
  return alternatives.length > 0 ? alternatives : [schema]
}

const membersOf = ({ properties }: Json): string => Object.keys(objectIn(properties)).join(', ')

/** Reports the changes from each alternative to the one that changes least. */
const compareAlternatives = (place: MemberPlace, whole: Sides, forms: Sides): void => {
  const { comparison, path } = place
  const isRequest = comparison.direction === 'request'
  const before = choicesOf(whole.base, forms.base)
  const after = choicesOf(whole.next, forms.next)
  // The reader of a discriminator ignores the values that it does not know.
  const canGrow = !isRequest && 'discriminator' in forms.next
  const [ones, others] = isRequest ? [before, after] : [after, before]
  for (const one of ones) {
    const same = others.filter(
      (other) => componentOf(one) && componentOf(one) === componentOf(other),
    )
    if (same.length === 0 && canGrow) continue
    const attempts = (same.length > 0 ? same : others).map((other) => {
      const changes: string[] = []
      const components: Parameters<Comparison['component']>[] = []
      const trial: Comparison = {
        ...comparison,
        report: (change) => void changes.push(change),
        component: (...named) => void components.push(named),
      }
      const [base, next] = isRequest ? [one, other] : [other, one]
      compareSchemas({ comparison: trial, path }, base, next)
      return { changes, components }
    })
    const [fewest] = attempts.sort((a, b) => a.changes.length - b.changes.length)
    if (fewest?.changes.length && ones.length > others.length && isRequest) {
      report(place, `no longer accepts the form ${componentOf(one) ?? membersOf(one)}`)
      continue
    }
    for (const change of fewest?.changes ?? []) comparison.report(change)
    for (const named of fewest?.components ?? []) comparison.component(...named)
  }
}

/** Whether a reference has no members next to it that narrow it. */
const isPlain = (schema: Json): boolean =>
  Object.keys(schema).every((key) => key === '$ref' || key === 'description')

/** Reports each breaking change from a schema to its next form. */
export const compareSchemas = (place: MemberPlace, base: Json, next: Json): void => {
  const { documents, component, direction } = place.comparison
  compareTypes(place, base, next, { onlyNull: true })
  const [before, after] = [withoutNull(base), withoutNull(next)]
  const name = componentOf(before)
  if (name && name === componentOf(after) && isPlain(before) && isPlain(after)) {
    component(name, direction)
    return
  }
  const [one, other] = [resolved(before, documents.base), resolved(after, documents.next)]
  compareTypes(place, one, other)
  if (alternativesOf(one).length + alternativesOf(other).length > 0) {
    const whole = { base: before, next: after }
    compareAlternatives(place, whole, { base: one, next: other })
  } else compareForms(place, one, other)
}

const compareForms = (place: MemberPlace, base: Json, next: Json): void => {
  compareValues(place, base, next)
  compareRules(place, base, next)
  compareMembers(place, base, next)
  if (base.items && next.items) {
    const path = `${place.path}[]`
    compareSchemas({ ...place, path }, objectIn(base.items), objectIn(next.items))
  }
}
