import middy, { type MiddlewareObj, type Request } from '@middy/core'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import type { GenericSchema, InferOutput } from 'valibot'
import { Refusal } from '../domain/refusal.ts'
import { environment, type Runtime } from '../runtime.ts'
import type { Caller } from '../store/providers/credentials.ts'
import { unused } from '../store/rate-limit.ts'
import { countingFailures, credentialGuard, providerGuard } from './caller-guards.ts'
import { type ApiEvent, headersOf, type RequestContext, requestIdOf } from './context.ts'
import { refusalReply, type Success, successReply, type TextReply, textReply } from './envelope.ts'
import { refusalFor } from './faults.ts'
import { bodyGuards, queryGuard } from './input-guards.ts'
import { type Operation, type OperationName, operations } from './operations.ts'
import { rateGuard, settleRate } from './rate-guard.ts'
import { logRequest, referenceIn } from './request-log.ts'
import { decodedParameter } from './resources.ts'

type RowOf<N extends OperationName> = (typeof operations)[N]

type Parsed<N extends OperationName, Part extends 'body' | 'query'> =
  RowOf<N> extends Record<Part, infer S extends GenericSchema> ? InferOutput<S> : undefined

/** A request that passed every guard. */
export type Call<N extends OperationName, P = unknown> = {
  requestId: string
  at: Date
  caller: Extract<Caller, { kind: RowOf<N>['caller'] }>
  /** The decoded parameters of the path. */
  path: Record<string, string>
  /** Returns the body as the caller sent it. */
  body: () => string
  input: Parsed<N, 'body'>
  query: Parsed<N, 'query'>
  prefetched: P
}

type Handle<N extends OperationName, P> = (
  call: Call<N, P>,
  runtime: Runtime,
) => Promise<Success | TextReply | Refusal>

/** A request of a known caller within its limits, with an invalid body. */
export type RejectedCall<N extends OperationName, P> = Omit<Call<N, P>, 'input' | 'query'> & {
  refusal: Refusal
}

type Options<N extends OperationName, P> = {
  /** Reads what the path alone names, in parallel with the count of the request. */
  prefetch?: (call: Pick<Call<N>, 'caller' | 'path' | 'at'>) => Promise<P>
  /** Runs before the caller gets the refusal; if it throws, the caller gets a fault and retries. */
  onRejectedBody?: (rejected: RejectedCall<N, P>) => Promise<void>
}

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>

/** Reserved of the function's 28 s, so that it replies 504/2408 before the gateway times out. */
const DEADLINE_RESERVE_MS = 3_000

const BANK_UNAVAILABLE = 2003

const deadlinePassed = (): never => {
  throw new Refusal(2408)
}

/**
 * Wraps an operation in credential check, rate limit, body and query checks, envelope and deadline.
 * The handle gets plain values and returns data or a refusal. A thrown error becomes a reply too.
 */
export const endpoint =
  <N extends OperationName, P = undefined>(
    name: N,
    handle: Handle<N, P>,
    { prefetch, onRejectedBody }: Options<N, P> = {},
  ) =>
  (runtime: Runtime): Handler => {
    const operation: Operation = operations[name]

    const respond = async ({ context, pathParameters }: ApiEvent) => {
      const call = await callOf<N, P>(context, pathParameters)
      const [result] = await Promise.all([handle(call, runtime), settleRate(operation, context)])
      context.reference = referenceIn(result)
      if (result instanceof Refusal && result.code === BANK_UNAVAILABLE)
        context.isBankUnavailable = true
      if (result instanceof Refusal) return refusalReply(result, context)
      return 'text' in result
        ? textReply(result, operation.status, context)
        : successReply(result, operation.status, context)
    }

    return middy<ApiEvent, APIGatewayProxyResult>(respond, {
      timeoutEarlyInMillis: DEADLINE_RESERVE_MS,
      timeoutEarlyResponse: deadlinePassed,
      requestEnd: ({ event, response }) => logRequest(name, event as ApiEvent, response),
    })
      .use(head)
      .use(requestContext(name, onRejectedBody, runtime))
      .use(credentialGuard(operation))
      .use(countingFailures(providerGuard))
      .use(startPrefetch(prefetch))
      .use(rateGuard(name, operation))
      .use(queryGuard(operation))
      .use(bodyGuards(operation)) as unknown as Handler
  }

/** The guards have put into the context what the row of the operation declares. */
const callOf = async <N extends OperationName, P>(
  context: RequestContext,
  path: ApiEvent['pathParameters'],
): Promise<Call<N, P>> =>
  ({ ...context, path: path ?? {}, prefetched: await context.prefetched }) as unknown as Call<N, P>

const dropBody = ({ event, response }: Request<ApiEvent, APIGatewayProxyResult>): void => {
  if (event.httpMethod === 'HEAD' && response) response.body = ''
}

/** Replies to HEAD as to GET, without the body (RFC 9110, 9.3.2). */
const head: MiddlewareObj<ApiEvent, APIGatewayProxyResult> = { after: dropBody, onError: dropBody }

/** Creates the context of a request, and converts a thrown error to its reply. */
const requestContext = <N extends OperationName, P>(
  name: N,
  onRejectedBody: Options<N, P>['onRejectedBody'],
  runtime: Runtime,
): MiddlewareObj<ApiEvent, APIGatewayProxyResult> => ({
  before: ({ event }) => {
    const requestId = requestIdOf(event, runtime)
    const receivedAt = runtime.wallTime()
    const rate = unused(operations[name].limit[environment.limits], receivedAt)
    const headers = headersOf(event)
    event.context = { requestId, headers, at: runtime.now(), receivedAt, rate }
    event.pathParameters = decoded(event.pathParameters)
  },
  onError: async (request) => {
    const { context, pathParameters } = request.event
    const ids = { operation: name, request_id: context.requestId }
    let refusal = refusalFor(request.error, ids)
    if (onRejectedBody && isBodyRejected(context)) {
      try {
        await onRejectedBody({ ...(await callOf<N, P>(context, pathParameters)), refusal })
      } catch (fault) {
        refusal = refusalFor(fault, ids)
      }
    }
    request.response = refusalReply(refusal, context)
  },
})

/** Reports whether the body guards read the body and rejected it. */
const isBodyRejected = ({ body, input }: RequestContext): boolean =>
  body !== undefined && input === undefined

/** Decodes the path parameters, which API Gateway passes undecoded. */
const decoded = (raw: ApiEvent['pathParameters']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(raw ?? {}).map(([name, value = '']) => [name, decodedParameter(value)]),
  )

const startPrefetch = <N extends OperationName, P>(
  prefetch: Options<N, P>['prefetch'],
): MiddlewareObj<ApiEvent> => ({
  before: ({ event: { context, pathParameters } }) => {
    const { caller, at } = context
    const call = { caller, at, path: pathParameters ?? {} }
    context.prefetched = prefetch?.(call as Pick<Call<N>, 'caller' | 'path' | 'at'>)
    // A failure surfaces where the read is awaited; after an earlier refusal it must not end the process.
    context.prefetched?.catch(() => undefined)
  },
})
