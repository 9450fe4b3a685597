import type { Context } from 'aws-lambda'
import type * as v from 'valibot'
import { Refusal } from '../domain/refusal.ts'
import { log, wordsOf } from '../log.ts'
import { explain, judgeCall, type Noun, type OperatorCall, type OperatorReply } from './verbs.ts'

/** What a function does at each verb of its noun, with the options as their schema has parsed them. */
type Deeds<N extends Noun> = {
  [V in keyof N['verbs']]: (options: v.InferOutput<N['verbs'][V]['options']>) => Promise<unknown>
}

type Called = Pick<Context, 'functionName' | 'awsRequestId'>

/** The handler of one noun's verbs. What is refused is told in one line; a fault is thrown. */
export const operatorHandler =
  <N extends Noun>(noun: N, deeds: Deeds<N>) =>
  async (call: OperatorCall, called?: Called): Promise<OperatorReply> => {
    const judged = judgeCall(noun, call)
    // A verb that there is not is text like any other.
    const verb = Object.hasOwn(noun.verbs, call.verb) ? call.verb : null
    const ids = { operation: called?.functionName, verb, request_id: called?.awsRequestId }
    if ('error' in judged) {
      log.info('operator', { ...ids, outcome: 'refused' })
      return judged
    }
    try {
      const result = await deeds[call.verb as keyof N['verbs']](judged.options as never)
      const isRefused = result instanceof Refusal
      log.info('operator', { ...ids, outcome: isRefused ? 'refused' : 'done' })
      return isRefused ? { error: explain(result) } : { result }
    } catch (error) {
      log.error('fault', { ...ids, error: error as Error })
      // Lambda writes what is thrown to the log as it is.
      throw new Error(wordsOf(error as Error))
    }
  }
