import * as v from 'valibot'
import { type ErrorCode, type FieldMessages, invalid, Refusal } from './refusal.ts'

type AnySchema = v.GenericSchema<unknown, unknown>

/** Fields with a code of their own, used when nothing else was refused. */
export type FieldCodes = Record<string, ErrorCode>

/**
 * Holds input against a schema: the parsed value, or one refusal with every refused field in it.
 * A field of the wrong type is 1007; a wrong value of the only refused field may have its own code.
 */
export const parseInput = <S extends AnySchema>(
  schema: S,
  input: unknown,
  codes: FieldCodes = {},
): v.InferOutput<S> | Refusal => {
  const result = v.safeParse(schema, input)
  if (result.success) return result.output
  const fields: FieldMessages = {}
  for (const issue of result.issues) {
    const field = String(issue.path?.[0].key ?? 'body')
    const messages = fields[field] ?? []
    fields[field] = messages.includes(issue.message) ? messages : [...messages, issue.message]
  }
  const [field, ...others] = Object.keys(fields)
  const onlyValues = result.issues.every((issue) => issue.kind === 'validation')
  const code = field && others.length === 0 && onlyValues ? codes[field] : undefined
  return code ? new Refusal(code, { details: fields }) : invalid(fields)
}
