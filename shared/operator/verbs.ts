import * as v from 'valibot'
import { Refusal } from '../domain/refusal.ts'
import { parseInput } from '../domain/validation.ts'

/**
 * What the operator command sends to a function: a verb and its options, all text, as typed.
 * The functions have no route: who may invoke them is a matter of IAM.
 */
export type OperatorCall = {
  verb: string
  options: Record<string, string>
  /** Who calls: an ARN, or `local:` and a user; absent in a call that was made by hand. */
  actor?: string
  /** The id of a granted request: its verb and options are carried out, and `options` is empty. */
  approval?: string
}

/** What it prints: a document, or why not. */
export type OperatorReply = { result: unknown } | { error: string }

/** A verb as the command knows it: what it is for, and what it takes. */
export type Verb = {
  summary: string
  /** The first one names the object, in verbs that need an approval. */
  options: v.GenericSchema<unknown, unknown> & { entries: v.ObjectEntries }
  /** When a second operator must approve the call: always, or with one of these options. */
  approval?: 'always' | readonly string[]
}

/** A noun of the command: definitions alone, so that the command itself can judge and explain. */
export type Noun = { name: string; summary: string; verbs: Record<string, Verb> }

/** Returns whether a second operator must approve a call where the stage has approvals. */
export const needsApproval = ({ approval = [] }: Verb, options: Record<string, string>): boolean =>
  approval === 'always' || approval.some((name) => options[name] !== undefined)

/** An option's schema without the wrapper that makes it optional. */
export const requiredForm = (schema: v.GenericSchema): v.GenericSchema =>
  schema.type === 'optional'
    ? (schema as v.OptionalSchema<v.GenericSchema, undefined>).wrapped
    : schema

/** The names of the options that are secrets. */
export const secretsOf = ({ options }: Verb): string[] =>
  Object.entries(options.entries)
    .filter(
      ([, schema]) => v.getMetadata(requiredForm(schema as v.GenericSchema)).isSecret === true,
    )
    .map(([name]) => name)

/** The parsed options of a call, or why it is refused, in one line. */
export const parseCall = (
  { verbs }: Noun,
  { verb, options }: OperatorCall,
): { options: unknown } | { error: string } => {
  const wanted = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (!wanted) return { error: `unknown verb; there are: ${Object.keys(verbs).join(', ')}` }
  const judged = parseInput(wanted.options, options)
  return judged instanceof Refusal ? { error: explain(judged) } : { options: judged }
}

/** A refusal in one line. */
export const explain = ({ error, details }: Refusal): string => {
  if (typeof details !== 'object') {
    return details ?? `${error.message} (${error.code})`
  }
  return Object.entries(details)
    .map(([option, messages]) => `--${option}: ${[messages].flat().join('; ')}`)
    .join(', ')
}
