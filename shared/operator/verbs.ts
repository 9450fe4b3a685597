import * as v from 'valibot'
import { invalid, Refusal } from '../domain/refusal.ts'
import { parseInput, WHOLE } from '../domain/validation.ts'

/** A call of the operator command, with its options as typed. IAM authorizes the caller. */
export type OperatorCall = {
  verb: string
  options: Record<string, string>
  /** The caller: an ARN or `local:USER`. Absent in calls without the command. */
  actor?: string
  /** The id of a granted request to run; `options` is then empty. */
  approval?: string
}

/** The document that the command prints, or the reason of a refusal. A list can continue at a cursor. */
export type OperatorReply =
  | {
      result: unknown
      next_cursor?: string | undefined
      /** The result reports a difference: the command prints it and exits 1. */
      differs?: true | undefined
      /** The reason that the call ended early: the command also prints the result, and exits 1. */
      fault?: string | undefined
    }
  | { error: string }

/**
 * When a second operator must approve a call: always, with one of these options (`name`, `name value`
 * or `prefix-*`), or in a state that the function of the noun reads.
 */
export type ApprovalRule = 'always' | readonly string[] | { with?: readonly string[]; if: string }

/**
 * The effect of a verb (docs/operations.md#approvals). A verb that only does what the service also does by
 * itself, such as `settlement run`, neither moves nor redirects money.
 */
export type Effect =
  | { effect: 'reads' }
  | { effect: 'settings' }
  /** Moves or redirects money, or proof of money. */
  | { effect: 'money'; approval: ApprovalRule }

export type Verb = {
  summary: string
  /** The first given option names the object, in verbs that need an approval. */
  options: v.GenericSchema<unknown, unknown> & { entries: v.ObjectEntries }
  /**
   * Whether the result has data of customers: each such call is recorded. The customers are those of the
   * option `phone`, and of the debits and requests in the result. Absent where the noun shows no customer.
   */
  shows?: 'customers' | 'no customer'
  /** The command prints each element of the result on a line. */
  printsLines?: true
} & Effect

/** A noun of the command, without code: the command validates and prints help with it. */
export type Noun = { name: string; summary: string } & (
  | { shows: 'no customer'; verbs: Record<string, Verb> }
  | { verbs: Record<string, Verb & Required<Pick<Verb, 'shows'>>> }
)

/**
 * Reports whether a second operator must approve a call, in a stage with approvals.
 * @param isInState reads the state of an `if`
 */
export const needsApproval = async (
  verb: Verb,
  options: Record<string, string>,
  isInState: () => Promise<boolean>,
): Promise<boolean> => {
  if (verb.effect !== 'money') return false
  const { approval } = verb
  if (approval === 'always') return true
  const isGiven = guardedOf(approval).some((rule) =>
    Object.entries(options).some(([name, value]) => isGuarded(rule, name, value)),
  )
  return isGiven || ('if' in approval && isInState())
}

/** Returns the options with which a call needs an approval. */
export const guardedOf = (approval: Exclude<ApprovalRule, 'always'>): readonly string[] =>
  'if' in approval ? (approval.with ?? []) : approval

const isGuarded = (rule: string, name: string, value: string): boolean =>
  rule.endsWith('*')
    ? name.startsWith(rule.slice(0, -1))
    : rule === name || rule === `${name} ${value}`

/** Returns when a verb needs an approval, for the help and the docs. */
export const approvalText = (verb: Verb): string => {
  if (verb.effect !== 'money') return ''
  const { approval } = verb
  if (approval === 'always') return 'always'
  const guarded = guardedOf(approval).map((text) => `--${text}`)
  return [
    ...(guarded.length > 0 ? [`with ${guarded.join(', ')}`] : []),
    ...('if' in approval ? [`if ${approval.if}`] : []),
  ].join(', or ')
}

const requiredForm = (schema: v.GenericSchema): v.GenericSchema =>
  schema.type === 'optional'
    ? (schema as v.OptionalSchema<v.GenericSchema, undefined>).wrapped
    : schema

/** An option as the help and the forms show it. */
type OptionText = {
  name: string
  /** The placeholder of the value, such as AMOUNT or accept|refuse; `-`: a secret from standard input. */
  value: string
  meaning: string
  isRequired: boolean
}

export const optionTexts = ({ options }: Verb): OptionText[] =>
  Object.entries(options.entries).map(([name, schema]) => {
    const required = requiredForm(schema as v.GenericSchema)
    return {
      name,
      value: v.getTitle(required) ?? '',
      meaning: v.getDescription(required) ?? '',
      isRequired: (schema as v.GenericSchema).type !== 'optional',
    }
  })

const marked =
  (mark: 'isSecret' | 'isPersonal') =>
  ({ options }: Verb): string[] =>
    Object.entries(options.entries)
      .filter(([, schema]) => v.getMetadata(requiredForm(schema as v.GenericSchema))[mark] === true)
      .map(([name]) => name)

export const secretsOf = marked('isSecret')
export const personalOf = marked('isPersonal')

/** Returns the option whose name a caller may omit: the first required one, or one with a mark. */
export const positionalOf = ({ options }: Verb): string | undefined => {
  const entries = Object.entries(options.entries) as [string, v.GenericSchema][]
  const required = entries.find(([, schema]) => schema.type !== 'optional')
  const positional = entries.find(([, schema]) => v.getMetadata(requiredForm(schema)).isPositional)
  return (positional ?? required)?.[0]
}

export const parseCall = (
  { verbs }: Noun,
  { verb, options }: OperatorCall,
): { options: unknown } | Refusal => {
  const definition = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (!definition) {
    const details = `unknown verb; there are: ${Object.keys(verbs).join(', ')}`
    return new Refusal(1400, { details })
  }
  const parsed = parseInput(definition.options, options)
  if (parsed instanceof Refusal) return parsed
  const { from, to } = parsed as { from?: unknown; to?: unknown }
  return typeof from === 'string' && typeof to === 'string' && to < from
    ? invalid({ to: ['must not be before --from'] })
    : { options: parsed }
}

export const explain = ({ error, details }: Refusal): string => {
  if (typeof details !== 'object') return details ?? `${error.message} (${error.code})`
  return Object.entries(details)
    .map(([option, messages]) => {
      const text = [messages].flat().join('; ')
      // A rule about several options names them itself.
      return option === WHOLE ? text : `--${option}: ${text}`
    })
    .join(', ')
}
