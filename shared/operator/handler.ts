import type { Context } from 'aws-lambda'
import type * as v from 'valibot'
import {
  ACTOR,
  type ApprovalId,
  type CallObject,
  UNKNOWN_OPERATOR,
} from '../domain/operator/approval.ts'
import { type BulkScope, isProgress } from '../domain/operator/bulk.ts'
import { Refusal } from '../domain/refusal.ts'
import { errorText, log } from '../log.ts'
import { environment, type Runtime } from '../runtime.ts'
import { UnreadableHashKey } from '../store/operator/customer-hash.ts'
import { recordAccess } from './accesses.ts'
import { claimGranted, refusalOfObject, requestApproval } from './approvals.ts'
import { callOf, type OperatorEvent, replyToCaller } from './caller.ts'
import type { ResultOf } from './results.ts'
import {
  explain,
  type Noun,
  needsApproval,
  type OperatorCall,
  type OperatorReply,
  parseCall,
  type Verb,
} from './verbs.ts'

/** The common fields of the record of a change: the operators, the verb and the call. */
export type Author = {
  id: string
  at: Date
  by: string
  approvedBy?: string
  /** The granted request that the call carries out. */
  approval?: ApprovalId
  /** The objects that the request was granted for, and its time. */
  scope?: BulkScope & { requestedAt: Date }
  noun: string
  verb: string
}

/** One page of a list; without a cursor the last one. */
export class ListPage<R> {
  readonly result: R
  readonly next_cursor: string | undefined

  constructor(result: R, nextCursor: string | undefined) {
    this.result = result
    this.next_cursor = nextCursor
  }
}

/** A result that reports whether something differs. */
export class Verdict<R> {
  readonly result: R
  readonly differs: true | undefined

  constructor(result: R, differs: boolean) {
    this.result = result
    this.differs = differs || undefined
  }
}

type RunAction<O, R> = (
  options: O,
  author: Author,
  runtime: Runtime,
) => Promise<R | ListPage<R> | Verdict<R> | Refusal>

/** Runs a verb with its parsed options. */
type CheckedAction<O, R> = {
  run: RunAction<O, R>
  /**
   * Validates a call before it is stored for approval, and again before it runs, and changes nothing.
   * @returns what the request shows: a grant runs the call only while it is the same
   */
  check: (options: O, author: Author, runtime: Runtime) => Promise<CallObject | Refusal>
  /** Returns the objects of a call about many, before it is stored for approval. */
  scope?: (options: O, author: Author, runtime: Runtime) => Promise<BulkScope | undefined | Refusal>
}

/** Refuses a call without an approval if another operator's change means that it now needs one. */
export type ApprovalCheck = () => Promise<Refusal | undefined>

/**
 * Reads whether a call needs an approval, for a row with `if`. `run` checks it again between its read and its
 * write, so that no change in between avoids the approval.
 */
type StateAction<O, R> = Omit<CheckedAction<O, R>, 'run'> & {
  run: (...call: [...Parameters<RunAction<O, R>>, ApprovalCheck]) => ReturnType<RunAction<O, R>>
  needsApproval: (options: O, author: Author) => Promise<boolean>
}

type ActionOf<V extends Verb, R> = V extends { approval: { if: string } }
  ? StateAction<v.InferOutput<V['options']>, R>
  : V extends { effect: 'money' }
    ? CheckedAction<v.InferOutput<V['options']>, R>
    : RunAction<v.InferOutput<V['options']>, R>

type Actions<N extends Noun> = {
  [V in keyof N['verbs']]: ActionOf<N['verbs'][V], ResultOf<N['name'], V>>
}

export const noSuch = (object: string) => new Refusal(1404, { details: `no such ${object}` })

/** Returns the object that a change starts from: the new one of `create`, else the stored one. */
export const objectToChange = <T>(kind: string, stored: T | undefined, created: T | undefined) => {
  if (created && stored) return new Refusal(1409, { details: `this ${kind} already exists` })
  return created ?? stored ?? noSuch(kind)
}

type LambdaContext = Pick<Context, 'functionName' | 'awsRequestId'> &
  Partial<Pick<Context, 'getRemainingTimeInMillis'>>

type AnyAction =
  | RunAction<unknown, unknown>
  | CheckedAction<unknown, unknown>
  | StateAction<unknown, unknown>

/** The call that is logged for an event without one. */
const NO_CALL: OperatorCall = { verb: '', options: {} }

/** The time of a call without Lambda's own limit. */
const CALL_MAX_MS = 60_000

/** Returns a function that runs a call, its request for approval, or a granted request. */
const dispatcher = (noun: Noun, actions: Record<string, AnyAction>, runtime: Runtime) => {
  const actionOf = (verb: string): Partial<StateAction<unknown, unknown>> => {
    const action = actions[verb]
    return typeof action === 'function' ? { run: action } : (action ?? {})
  }

  const isRequest = async (call: OperatorCall, author: Author): Promise<boolean> => {
    const verb = Object.hasOwn(noun.verbs, call.verb) ? noun.verbs[call.verb] : undefined
    if (!environment.requiresApprovals || !verb) return false
    return needsApproval(verb, call.options, async () => {
      const parsed = parseCall(noun, call)
      // A malformed call is refused anyway.
      if (parsed instanceof Refusal) return false
      return (await actionOf(call.verb).needsApproval?.(parsed.options, author)) !== false
    })
  }

  const perform = async (call: OperatorCall, author: Author, requested?: CallObject) => {
    const parsed = parseCall(noun, call)
    if (parsed instanceof Refusal) return parsed
    const { run, check } = actionOf(call.verb)
    const current = requested && (await check?.(parsed.options, author, runtime))
    const refusal = requested && refusalOfObject(requested, current)
    if (refusal) return refusal
    const checkApproval: ApprovalCheck = async () =>
      author.approval === undefined && (await isRequest(call, author))
        ? new Refusal(1409, {
            details: 'another operator made a change during this call: call again',
          })
        : undefined
    const result = await run?.(parsed.options, author, runtime, checkApproval)
    if (noun.verbs[call.verb]?.shows === 'customers' && !(result instanceof Refusal)) {
      const shown = result instanceof ListPage ? result.result : result
      // The result of a granted call is printed to the operator who granted it.
      const by = author.approvedBy ?? author.by
      await recordAccess(parsed.options, shown, { ...author, by }, runtime)
    }
    return result
  }

  /** Rejects an invalid call before it is stored, so that no operator has to approve it. */
  const request = async (call: OperatorCall, author: Author): Promise<unknown> => {
    const parsed = parseCall(noun, call)
    if (parsed instanceof Refusal) return parsed
    const { check, scope: scopeOf } = actionOf(call.verb)
    const object = (await check?.(parsed.options, author, runtime)) ?? {}
    if (object instanceof Refusal) return object
    const scope = await scopeOf?.(parsed.options, author, runtime)
    if (scope instanceof Refusal) return scope
    return requestApproval(noun, call, { ...author, object, scope }, runtime)
  }

  const runGranted = async (approval: string, author: Author, until: Date): Promise<unknown> => {
    const granted = await claimGranted(noun.name, approval, author, until, runtime)
    if (granted instanceof Refusal) return granted
    const { options, object, authors, finish, release } = granted
    const call = { verb: authors.verb, options }
    try {
      const result = await perform(call, { ...author, ...authors }, object)
      // A repeated grant continues the call.
      if (isProgress(result)) await release()
      else await finish(runtime.now(), result instanceof Refusal ? explain(result) : undefined)
      return result
    } catch (error) {
      // A claim that cannot be released expires.
      await release().catch(() => false)
      throw error
    }
  }

  return async (call: OperatorCall, author: Author, context?: LambdaContext) => {
    if (call.approval !== undefined) {
      const remaining = context?.getRemainingTimeInMillis?.() ?? CALL_MAX_MS
      const until = new Date(author.at.getTime() + remaining)
      return { outcome: 'done', result: await runGranted(call.approval, author, until) }
    }
    return (await isRequest(call, author))
      ? { outcome: 'requested', result: await request(call, author) }
      : { outcome: 'done', result: await perform(call, author) }
  }
}

/**
 * Returns the handler of a noun. A refusal is returned as one line; a fault is thrown. A call that
 * needs an approval is stored as a request; a granted request runs as the requester's call.
 */
export const operatorHandler =
  <N extends Noun>(noun: N, actions: Actions<N>) =>
  (runtime: Runtime) => {
    const dispatch = dispatcher(noun, actions as Record<string, AnyAction>, runtime)
    return async (event: OperatorEvent, context?: LambdaContext): Promise<OperatorReply> => {
      const probe = replyToCaller(event)
      if (probe) return probe
      const received = callOf(event)
      const call = received instanceof Refusal ? NO_CALL : received
      const by = ACTOR.test(call.actor ?? '') ? String(call.actor) : UNKNOWN_OPERATOR
      const ids = {
        operation: context?.functionName,
        // An unknown verb can be any text.
        verb: Object.hasOwn(noun.verbs, call.verb) ? call.verb : null,
        actor: by,
        request_id: context?.awsRequestId,
      }
      const id = runtime.newId()
      const author = { id, at: runtime.now(), by, noun: noun.name, verb: call.verb }
      try {
        const { outcome, result } =
          received instanceof Refusal
            ? { outcome: 'refused', result: received }
            : await dispatch(received, author, context)
        const isRefused = result instanceof Refusal
        log.info('operator', { ...ids, outcome: isRefused ? 'refused' : outcome })
        if (isRefused) return { error: explain(result) }
        const isReply = result instanceof ListPage || result instanceof Verdict
        return isReply ? { ...result } : { result }
      } catch (error) {
        const figures = error instanceof UnreadableHashKey ? { SecretsUnreadable: 1 } : {}
        log.error('fault', { ...ids, error: error as Error }, figures)
        // Lambda logs the thrown error unchanged.
        throw new Error(errorText(error as Error))
      }
    }
  }
