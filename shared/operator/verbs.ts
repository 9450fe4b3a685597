import * as v from 'valibot'
import { Refusal, unlessRefused } from '../domain/refusal.ts'
import { parseInput } from '../domain/validation.ts'

/** A call of the operator command, with its options as typed. IAM authorizes the caller. */
export type OperatorCall = {
  verb: string
  options: Record<string, string>
  /** The caller: an ARN or `local:USER`. Absent in calls without the command. */
  actor?: string
  /** The id of a granted request to run; `options` is then empty. */
  approval?: string
}

/** The document that the command prints, or the reason of a refusal. */
export type OperatorReply = { result: unknown } | { error: string }

export type Verb = {
  summary: string
  /** The first option names the object, in verbs that need an approval. */
  options: v.GenericSchema<unknown, unknown> & { entries: v.ObjectEntries }
  /** When a second operator must approve the call: always, or with one of these options. */
  approval?: 'always' | readonly string[]
}

/** A noun of the command, without code: the command validates and prints help with it. */
export type Noun = { name: string; summary: string; verbs: Record<string, Verb> }

/** Reports whether a second operator must approve a call, in a stage with approvals. */
export const needsApproval = ({ approval = [] }: Verb, options: Record<string, string>): boolean =>
  approval === 'always' || approval.some((name) => options[name] !== undefined)

export const requiredForm = (schema: v.GenericSchema): v.GenericSchema =>
  schema.type === 'optional'
    ? (schema as v.OptionalSchema<v.GenericSchema, undefined>).wrapped
    : schema

export const secretsOf = ({ options }: Verb): string[] =>
  Object.entries(options.entries)
    .filter(
      ([, schema]) => v.getMetadata(requiredForm(schema as v.GenericSchema)).isSecret === true,
    )
    .map(([name]) => name)

export const parseCall = (
  { verbs }: Noun,
  { verb, options }: OperatorCall,
): { options: unknown } | Refusal => {
  const definition = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (!definition) {
    const details = `unknown verb; there are: ${Object.keys(verbs).join(', ')}`
    return new Refusal(1400, { details })
  }
  return unlessRefused(parseInput(definition.options, options), (options) => ({ options }))
}

export const explain = ({ error, details }: Refusal): string => {
  if (typeof details !== 'object') return details ?? `${error.message} (${error.code})`
  return Object.entries(details)
    .map(([option, messages]) => `--${option}: ${[messages].flat().join('; ')}`)
    .join(', ')
}
