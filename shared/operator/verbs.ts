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

/** A verb as the command knows it: what it is for, and what it takes. */
export type Verb = {
  summary: string
  options: v.GenericSchema<unknown, unknown> & { entries: v.ObjectEntries }
}

/** A noun of the command: definitions alone, so that the command itself can judge and explain. */
export type Noun = { summary: string; verbs: Record<string, Verb> }

/** What a function does at each verb of its noun, with the options as their schema has parsed them. */
type Deeds<N extends Noun> = {
  [V in keyof N['verbs']]: (options: v.InferOutput<N['verbs'][V]['options']>) => Promise<unknown>
}

/** The parsed options of a call, or why it is refused, in one line. */
export const judgeCall = (
  { verbs }: Noun,
  { verb, options }: OperatorCall,
): { options: unknown } | { error: string } => {
  const wanted = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (!wanted) return { error: `unknown verb; there are: ${Object.keys(verbs).join(', ')}` }
  const judged = judgeInput(wanted.options, options)
  return judged instanceof Refusal ? { error: explain(judged) } : { options: judged }
}

/** The handler of one noun's verbs. What is refused is told in one line; a fault is thrown. */
export const operatorHandler =
  <N extends Noun>(noun: N, deeds: Deeds<N>) =>
  async (call: OperatorCall): Promise<OperatorReply> => {
    const judged = judgeCall(noun, call)
    if ('error' in judged) return judged
    const result = await deeds[call.verb as keyof N['verbs']](judged.options as never)
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
