import type { Context } from 'aws-lambda'
import type * as v from 'valibot'
import { UNKNOWN_OPERATOR } from '../domain/operator/approval.ts'
import { Refusal } from '../domain/refusal.ts'
import { log, wordsOf } from '../log.ts'
import { environment, type Runtime, real } from '../runtime.ts'
import { claimGranted, requestApproval } from './approvals.ts'
import {
  explain,
  type Noun,
  needsApproval,
  type OperatorCall,
  type OperatorReply,
  parseCall,
} from './verbs.ts'

/** The operators, the verb and the call: the beginning of the record of a change. */
export type Author = {
  id: string
  at: Date
  by: string
  approvedBy?: string
  noun: string
  verb: string
}

/** What a function does at each verb of its noun, with the options as their schema has parsed them. */
type Deeds<N extends Noun> = {
  [V in keyof N['verbs']]: (
    options: v.InferOutput<N['verbs'][V]['options']>,
    author: Author,
  ) => Promise<unknown>
}
type Deed = (options: unknown, author: Author) => Promise<unknown>

/** Judges a call that needs an approval as the object is now; it changes nothing. */
type Checks<N extends Noun> = {
  [V in keyof N['verbs']]?: (options: v.InferOutput<N['verbs'][V]['options']>) => Promise<unknown>
}

/** The form of an ARN or a local user; other text does not reach the table or the log. */
const ACTOR = /^[\w:/@.+=,-]{1,300}$/

type Called = Pick<Context, 'functionName' | 'awsRequestId'> &
  Partial<Pick<Context, 'getRemainingTimeInMillis'>>

/** A minute, where Lambda does not say how long the call may take. */
const LONGEST_MS = 60_000

type Outcome = { outcome: 'done' | 'refused' | 'requested'; reply: OperatorReply }

const refused = (error: string): Outcome => ({ outcome: 'refused', reply: { error } })

/**
 * The handler of one noun's verbs. A refusal is one line; a fault is thrown. A call that needs an
 * approval is stored as a request; a granted request is carried out as the requester's call.
 * @param checks by verb; all other calls that need an approval are checked by `show`
 */
export const operatorHandler = <N extends Noun>(
  noun: N,
  deeds: Deeds<N>,
  runtime: Runtime = real,
  checks: Checks<N> = {},
) => {
  const deedOf = (verb: string) => (deeds as Record<string, Deed>)[verb]
  const checkOf = (verb: string) => (checks as Record<string, Deed>)[verb] ?? deedOf('show')

  const perform = async (call: OperatorCall, author: Author): Promise<Outcome> => {
    const judged = parseCall(noun, call)
    if ('error' in judged) return refused(judged.error)
    const result = await deedOf(call.verb)?.(judged.options, author)
    return result instanceof Refusal
      ? refused(explain(result))
      : { outcome: 'done', reply: { result } }
  }

  /** A call that is certain to be refused is refused at once: no operator has to approve it. */
  const request = async (call: OperatorCall, author: Author): Promise<Outcome> => {
    const judged = parseCall(noun, call)
    if ('error' in judged) return refused(judged.error)
    const checked = await checkOf(call.verb)?.(judged.options, author)
    const requested =
      checked instanceof Refusal ? checked : await requestApproval(noun, call, author, runtime)
    return requested instanceof Refusal
      ? refused(explain(requested))
      : { outcome: 'requested', reply: { result: requested } }
  }

  const carryOut = async (approval: string, author: Author, until: Date): Promise<Outcome> => {
    const granted = await claimGranted(noun.name, approval, author, until, runtime)
    if (granted instanceof Refusal) return refused(explain(granted))
    const { verb, options, requestedBy, finish, release } = granted
    const both = { ...author, verb, by: requestedBy, approvedBy: author.by }
    try {
      const done = await perform({ verb, options }, both)
      await finish(runtime.now(), 'error' in done.reply ? done.reply.error : undefined)
      return done
    } catch (error) {
      // A claim that stays ends by itself.
      await release().catch(() => false)
      throw error
    }
  }

  const answer = (call: OperatorCall, author: Author, called?: Called): Promise<Outcome> => {
    if (call.approval !== undefined) {
      const remaining = called?.getRemainingTimeInMillis?.() ?? LONGEST_MS
      return carryOut(call.approval, author, new Date(author.at.getTime() + remaining))
    }
    const verb = Object.hasOwn(noun.verbs, call.verb) ? noun.verbs[call.verb] : undefined
    const isRequest = environment.approvals && verb && needsApproval(verb, call.options ?? {})
    return isRequest ? request(call, author) : perform(call, author)
  }

  return async (call: OperatorCall, called?: Called): Promise<OperatorReply> => {
    // A verb that does not exist is text like any other.
    const verb = Object.hasOwn(noun.verbs, call.verb) ? call.verb : null
    const by = ACTOR.test(call.actor ?? '') ? String(call.actor) : UNKNOWN_OPERATOR
    const ids = {
      operation: called?.functionName,
      verb,
      actor: by,
      request_id: called?.awsRequestId,
    }
    const author = {
      id: runtime.newId(),
      at: runtime.now(),
      by,
      noun: noun.name,
      verb: call.verb,
    }
    try {
      const { outcome, reply } = await answer(call, author, called)
      log.info('operator', { ...ids, outcome })
      return reply
    } catch (error) {
      log.error('fault', { ...ids, error: error as Error })
      // Lambda writes what is thrown to the log as it is.
      throw new Error(wordsOf(error as Error))
    }
  }
}
