import middy, { type MiddlewareObj, type Request } from '@middy/core'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import type { GenericSchema, InferOutput } from 'valibot'
import { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import { environment, type Runtime } from '../runtime.ts'
import type { Caller } from '../store/providers/credentials.ts'
import { unused } from '../store/rate-limit.ts'
import { bodyGuards } from './body-guards.ts'
import type { ApiEvent, RequestContext } from './context.ts'
import { credentialGuard } from './credential-guard.ts'
import { refusalReply, type Success, successReply, type TextReply, textReply } from './envelope.ts'
import { countingFailures } from './failed-credentials.ts'
import { refusalFor } from './faults.ts'
import { type Operation, type OperationName, operations } from './operations.ts'
import { providerGuard } from './provider-guard.ts'
import { queryGuard } from './query-guard.ts'
import { rateGuard, settleRate } from './rate-guard.ts'
import { decodedParameter } from './resources.ts'

type RowOf<N extends OperationName> = (typeof operations)[N]

type Parsed<N extends OperationName, Part extends 'body' | 'query'> =
  RowOf<N> extends Record<Part, infer S extends GenericSchema> ? InferOutput<S> : undefined

/** A request that passed every guard. */
export type Call<N extends OperationName> = {
  requestId: string
  at: Date
  caller: Extract<Caller, { kind: RowOf<N>['caller'] }>
  /** The parameters of the path, decoded. */
  path: Record<string, string>
  /** Returns the body as the caller sent it (json-body.ts, originalBody). */
  body: () => string
  /** The body as its schema parsed it. */
  input: Parsed<N, 'body'>
  /** The query as its schema parsed it. */
  query: Parsed<N, 'query'>
}

type Handle<N extends OperationName, P> = (
  call: Call<N>,
  prefetched: P,
) => Promise<Success | TextReply | Refusal>

/** A request of a known caller, within its limits, whose body was rejected. */
export type Rejected<N extends OperationName> = Pick<
  Call<N>,
  'caller' | 'path' | 'at' | 'requestId' | 'body'
> & { refusal: Refusal }

type Options<N extends OperationName, P> = {
  /** A read that needs the path alone; it runs while the request is counted. */
  prefetch?: (call: Pick<Call<N>, 'caller' | 'path' | 'at'>) => Promise<P>
  /** Runs before the caller gets the refusal; when it throws, the caller gets a fault and retries. */
  onRejectedBody?: (rejected: Rejected<N>, prefetched: P) => Promise<void>
  /** Called once per request, with the status of its reply. */
  onReply?: (exchange: RequestContext, status: number) => void
}

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>

/** Reserved of a function's own time (28 s), so that 504/2408 comes before the gateway gives up. */
const DEADLINE_RESERVE_MS = 3_000

const deadlinePassed = (): never => {
  throw new Refusal(2408)
}

/**
 * The one wrapper of every function behind the gateway: credential, rate limit, body, envelope,
 * deadline. The function gets plain values and returns data or a refusal; whatever is thrown
 * becomes a reply as well, so nothing that a caller sends ends without one.
 */
export const endpoint = <N extends OperationName, P = undefined>(
  name: N,
  runtime: Pick<Runtime, 'now' | 'newId'>,
  handle: Handle<N, P>,
  { prefetch, onRejectedBody, onReply }: Options<N, P> = {},
): Handler => {
  const operation: Operation = operations[name]

  const answer = async (event: ApiEvent): Promise<APIGatewayProxyResult> => {
    const { context, pathParameters } = event
    // The guards have made of the exchange what the row promises of a call.
    const call = { ...context, path: pathParameters ?? {} } as unknown as Call<N>
    const prefetched = (await context.prefetched) as P
    const [result] = await Promise.all([handle(call, prefetched), settleRate(operation, context)])
    if (result instanceof Refusal) return refusalReply(result, context)
    return 'text' in result
      ? textReply(result, operation.status, context)
      : successReply(result, operation.status, context)
  }

  return middy<ApiEvent, APIGatewayProxyResult>(answer, {
    timeoutEarlyInMillis: DEADLINE_RESERVE_MS,
    timeoutEarlyResponse: deadlinePassed,
    requestEnd: ({ event, response }) => {
      const { context } = event as ApiEvent
      logOutcome(name, context, response)
      if (response) onReply?.(context, response.statusCode)
    },
  })
    .use(head)
    .use(exchanges(name, runtime, onRejectedBody as Options<N, unknown>['onRejectedBody']))
    .use(credentialGuard(operation))
    .use(countingFailures(providerGuard))
    .use(startPrefetch(prefetch as Options<N, unknown>['prefetch']))
    .use(rateGuard(name, operation))
    .use(queryGuard(operation))
    .use(bodyGuards(operation)) as unknown as Handler
}

const dropBody = ({ event, response }: Request<ApiEvent, APIGatewayProxyResult>): void => {
  if (event.httpMethod === 'HEAD' && response) response.body = ''
}

/** Answers HEAD as GET is answered, without the body (RFC 9110, 9.3.2). */
const head: MiddlewareObj<ApiEvent, APIGatewayProxyResult> = { after: dropBody, onError: dropBody }

/** Opens the exchange of a request, and turns whatever is thrown into its reply. */
const exchanges = <N extends OperationName>(
  name: N,
  runtime: Pick<Runtime, 'now' | 'newId'>,
  onRejectedBody: Options<N, unknown>['onRejectedBody'],
): MiddlewareObj<ApiEvent, APIGatewayProxyResult> => ({
  before: ({ event }) => {
    const at = runtime.now()
    const rate = unused(operations[name].limit[environment.limits], at)
    event.context = { requestId: runtime.newId(), at, rate }
    event.pathParameters = decoded(event.pathParameters)
  },
  onError: async (request) => {
    const { context, pathParameters } = request.event
    const ids = { operation: name, request_id: context.requestId }
    let refusal = refusalFor(request.error, ids)
    if (onRejectedBody && isBodyRejected(context)) {
      try {
        const rejected = { ...context, path: pathParameters ?? {}, refusal }
        await onRejectedBody(rejected as unknown as Rejected<N>, await context.prefetched)
      } catch (fault) {
        refusal = refusalFor(fault, ids)
      }
    }
    request.response = refusalReply(refusal, context)
  },
})

/** The body guards have read the body and not accepted it. */
const isBodyRejected = ({ body, input }: RequestContext): boolean =>
  body !== undefined && input === undefined

/** API Gateway passes the parameters of a path as they were sent, so each is decoded here, once. */
const decoded = (raw: ApiEvent['pathParameters']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(raw ?? {}).map(([name, value = '']) => [name, decodedParameter(value)]),
  )

const startPrefetch = <N extends OperationName>(
  prefetch: Options<N, unknown>['prefetch'],
): MiddlewareObj<ApiEvent> => ({
  before: ({ event: { context, pathParameters } }) => {
    const { caller, at } = context
    const call = { caller, at, path: pathParameters ?? {} }
    context.prefetched = prefetch?.(call as Pick<Call<N>, 'caller' | 'path' | 'at'>)
    // The handler sees a failure when it awaits the read; a refusal before that must not end the process.
    context.prefetched?.catch(() => undefined)
  },
})

const logOutcome = (
  operation: string,
  { caller, requestId }: RequestContext,
  reply: APIGatewayProxyResult | undefined,
): void => {
  log.info('request', {
    operation,
    request_id: requestId,
    caller: caller?.kind === 'provider' ? caller.provider.id : caller?.bank,
    status: reply?.statusCode,
  })
}
