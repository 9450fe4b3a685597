import { parseJson } from '../domain/json.ts'
import { Refusal } from '../domain/refusal.ts'
import { environment } from '../runtime.ts'
import type { OperatorCall } from './verbs.ts'

/** Event of a Lambda function URL with `AWS_IAM`: AWS has verified the caller's ARN. */
type UrlEvent = {
  requestContext: { http: { method: string }; authorizer?: { iam?: { userArn?: string } } }
  body?: string
  isBase64Encoded?: boolean
}

export type OperatorEvent = OperatorCall | UrlEvent

/** A direct invocation can have any JSON. */
const isUrlEvent = (event: unknown): event is UrlEvent =>
  typeof event === 'object' && event !== null && 'requestContext' in event

const callerOf = ({ requestContext }: UrlEvent): string | undefined =>
  requestContext.authorizer?.iam?.userArn

/** The reply to a GET, which reports whether IAM allows a caller this noun. */
export type CallerReply = { result: { caller: string | undefined } }

/** Returns the reply to a GET of the function URL; undefined for a call. */
export const replyToCaller = (event: OperatorEvent): CallerReply | undefined =>
  isUrlEvent(event) && event.requestContext.http.method === 'GET'
    ? { result: { caller: callerOf(event) } }
    : undefined

const refused = (details: string) => new Refusal(1403, { details })

const parsedCall = (call: unknown): OperatorCall | Refusal => {
  const { verb, options, ...rest } = (call ?? {}) as Partial<OperatorCall>
  return typeof verb === 'string' && typeof options === 'object' && options !== null
    ? { ...rest, verb, options }
    : new Refusal(1400, { details: 'the call must be {"verb": ..., "options": {...}}' })
}

/**
 * Returns the call of an event, with its caller. IAM decides who may use the function URL; its event
 * names the caller, whatever the body says. A direct invocation names the caller itself: only a stage
 * without data of value accepts one. Elsewhere manage-approval alone invokes directly, and runs a
 * request that was granted before (docs/operations.md#operators-and-their-changes).
 */
export const callOf = (event: OperatorEvent): OperatorCall | Refusal => {
  if (!isUrlEvent(event)) {
    const call = parsedCall(event)
    if (call instanceof Refusal) return call
    const { verb, approval, actor = '' } = call
    if (typeof actor !== 'string') return new Refusal(1400, { details: 'the actor must be text' })
    if (environment.claimedOperators) return call
    if (approval === undefined) return refused('operators call the URL of the function')
    return { verb, options: {}, actor, approval }
  }
  const { body = '', isBase64Encoded } = event
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString('utf8') : body
  const call = parsedCall(parseJson(text))
  if (call instanceof Refusal) return call
  // Ignores a caller and an approval in the body: IAM names the caller.
  return { verb: call.verb, options: call.options, actor: callerOf(event) ?? '' }
}
