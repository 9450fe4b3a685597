import * as v from 'valibot'
import { type ErrorCode, type FieldMessages, invalid, Refusal } from './refusal.ts'

/** The name under which a rule about several fields is refused. */
export const WHOLE = 'body'

/** The codes of single fields, used if no other field is wrong. */
export type FieldCodes = Record<string, ErrorCode>

/**
 * Parses input with a schema, or returns one refusal with all wrong fields (docs/api.md#validation). A
 * wrong type is 1007; a wrong value may have a code of its own if no other field is wrong.
 */
export const parseInput = <S extends v.GenericSchema<unknown, unknown>>(
  schema: S,
  input: unknown,
  codes: FieldCodes = {},
): v.InferOutput<S> | Refusal => {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  // Without a prototype, because a caller may name a field `constructor` or `__proto__`.
  const fields: FieldMessages = Object.create(null)
  for (const issue of result.issues) {
    const field = String(issue.path?.[0].key ?? WHOLE)
    const messages = fields[field] ?? []
    fields[field] = messages.includes(issue.message) ? messages : [...messages, issue.message]
  }
  const [field, ...others] = Object.keys(fields)
  const onlyValues = result.issues.every((issue) => issue.kind === 'validation')
  const code = field && others.length === 0 && onlyValues ? codes[field] : undefined
  return code ? new Refusal(code, { details: fields }) : invalid(fields)
}
