import type { Context } from 'aws-lambda'
import type * as v from 'valibot'
import { Refusal } from '../domain/refusal.ts'
import { log, wordsOf } from '../log.ts'
import { type Runtime, real } from '../runtime.ts'
import { explain, judgeCall, type Noun, type OperatorCall, type OperatorReply } from './verbs.ts'

/** The operator, the verb and the call: the beginning of the record of a change. */
export type Author = { id: string; at: Date; by: string; noun: string; verb: string }

/** What a function does at each verb of its noun, with the options as their schema has parsed them. */
type Deeds<N extends Noun> = {
  [V in keyof N['verbs']]: (
    options: v.InferOutput<N['verbs'][V]['options']>,
    author: Author,
  ) => Promise<unknown>
}

/** The form of an ARN or a local user; other text does not reach the table or the log. */
const ACTOR = /^[\w:/@.+=,-]{1,300}$/

type Called = Pick<Context, 'functionName' | 'awsRequestId'>

/** The handler of one noun's verbs. What is refused is told in one line; a fault is thrown. */
export const operatorHandler =
  <N extends Noun>(noun: N, deeds: Deeds<N>, runtime: Runtime = real) =>
  async (call: OperatorCall, called?: Called): Promise<OperatorReply> => {
    const judged = judgeCall(noun, call)
    // A verb that there is not is text like any other.
    const verb = Object.hasOwn(noun.verbs, call.verb) ? call.verb : null
    const by = ACTOR.test(call.actor ?? '') ? String(call.actor) : 'unknown'
    const ids = {
      operation: called?.functionName,
      verb,
      actor: by,
      request_id: called?.awsRequestId,
    }
    if ('error' in judged) {
      log.info('operator', { ...ids, outcome: 'refused' })
      return judged
    }
    try {
      const result = await deeds[call.verb as keyof N['verbs']](judged.options as never, {
        id: runtime.newId(),
        at: runtime.now(),
        by,
        noun: noun.name,
        verb: call.verb,
      })
      const isRefused = result instanceof Refusal
      log.info('operator', { ...ids, outcome: isRefused ? 'refused' : 'done' })
      return isRefused ? { error: explain(result) } : { result }
    } catch (error) {
      log.error('fault', { ...ids, error: error as Error })
      // Lambda writes what is thrown to the log as it is.
      throw new Error(wordsOf(error as Error))
    }
  }
