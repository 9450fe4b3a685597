import type * as v from 'valibot'
import { Refusal } from '../domain/refusal.ts'
import { judgeInput } from '../domain/validation.ts'

/**
 * What the operator command sends to a function: a verb and its options, all text, as typed.
 * The functions have no route: who may invoke them is a matter of IAM.
 */
export type OperatorCall = { verb: string; options: Record<string, string> }

/** What it prints: a document, or why not. */
export type OperatorReply = { result: unknown } | { error: string }

export type Verb = {
  options: v.GenericSchema<unknown, unknown>
  run: (options: never) => Promise<unknown>
}

/** A verb whose function gets its options as its schema has parsed them. */
export const verb = <S extends v.GenericSchema<unknown, unknown>>(
  options: S,
  run: (options: v.InferOutput<S>) => Promise<unknown>,
): Verb => ({ options, run })

/** The handler of one noun's verbs. What is refused is told in one line; a fault is thrown. */
export const operatorHandler =
  (verbs: Record<string, Verb>) =>
  async (call: OperatorCall): Promise<OperatorReply> => {
    const wanted = Object.hasOwn(verbs, call.verb) ? verbs[call.verb] : undefined
    if (!wanted) return { error: `unknown verb; there are: ${Object.keys(verbs).join(', ')}` }
    const options = judgeInput(wanted.options, call.options)
    const result = options instanceof Refusal ? options : await wanted.run(options as never)
    return result instanceof Refusal ? { error: explain(result) } : { result }
  }

const explain = ({ error, details }: Refusal): string => {
  if (typeof details !== 'object') {
    return details ?? `${error.message} (${error.code})`
  }
  return Object.entries(details)
    .map(([option, messages]) => `--${option}: ${[messages].flat().join('; ')}`)
    .join(', ')
}
