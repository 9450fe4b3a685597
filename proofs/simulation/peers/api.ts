import type { APIGatewayProxyResult } from 'aws-lambda'
import type { FunctionName } from '../../../infra/definitions/function-permissions.ts'
import type { Clock } from '../../../sandbox/aws/clock.ts'
import { operations } from '../../../shared/api/operations.ts'
import type { Faults } from '../engine/faults.ts'
import type { InvocationResult } from '../engine/invocations.ts'
import type { ApiCall } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'
import type { Run } from '../engine/warm-functions.ts'

/** The API's callers: they retry until they receive a final reply. */

export type Request = {
  name: Extract<FunctionName, keyof typeof operations>
  caller: { kind: 'provider' | 'bank'; id: string }
  path?: Record<string, string>
  body?: unknown
  /** The exact text of a body that is not JSON. */
  raw?: string
  query?: Record<string, string>
  /** The attempts until the caller gives up. */
  triesMax?: number
}

type Deps = {
  clock: Clock
  random: Random
  faults: Faults
  run: Run
  calls: ApiCall[]
  isPaused: () => boolean
}

export type Api = ReturnType<typeof newApi>

const REPLY_MAX_MS = 30_000
export const TRIES_MAX = 60

export const tokenOf = ({ kind, id }: { kind: string; id: string }): string =>
  `${kind === 'provider' ? 'sk' : 'bt'}_simulated_${id.toLowerCase()}`

const eventOf = ({ name, caller, path = {}, body, raw, query }: Request) => {
  const { method, path: resource } = operations[name]
  const headers = {
    Authorization: `Bearer ${tokenOf(caller)}`,
    ...(body === undefined && raw === undefined ? {} : { 'Content-Type': 'application/json' }),
  }
  const lists = query && Object.entries(query).map(([key, value]) => [key, [value]])
  const spelled = resource.replaceAll(/\{(\w+)\}/g, (_, part: string) => path[part] ?? '')
  return {
    resource,
    path: spelled,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [key, [value]]),
    ),
    queryStringParameters: query ?? null,
    multiValueQueryStringParameters: lists ? Object.fromEntries(lists) : null,
    pathParameters: path,
    stageVariables: null,
    requestContext: { path: spelled, identity: { sourceIp: '203.0.113.7' } },
    body: raw ?? (body === undefined ? null : JSON.stringify(body)),
    isBase64Encoded: false,
  }
}

const PAUSED = { status: 503, headers: {}, body: { error: { code: 1503 } } }

const replyIn = (
  { statusCode, headers = {}, body }: APIGatewayProxyResult,
  at: number,
): NonNullable<ApiCall['reply']> => ({
  at,
  status: statusCode,
  headers: headers as Record<string, unknown>,
  body: JSON.parse(body),
  raw: body,
})

const isAnswer = ({ reply, received }: ApiCall): boolean =>
  received && reply !== undefined && reply.status < 500 && reply.status !== 429

type Requested = Pick<ApiCall, 'caller' | 'path' | 'sent'> & { name: FunctionName }

export const newApi = ({ clock, random, faults, run, calls, isPaused }: Deps) => {
  const sleep = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(milliseconds, resolve)
    })

  const record = (requested: Requested): ApiCall => {
    const at = clock.now()
    const call = { at, ...requested, reply: undefined, received: false, invocation: 0 }
    calls.push(call)
    return call
  }

  /** Invokes a function and records the call. */
  const put = async (
    requested: Requested,
    event: unknown,
  ): Promise<{ call: ApiCall; result: InvocationResult<unknown> }> => {
    const call = record(requested)
    const result = await run(requested.name, event, (invocation) => {
      call.invocation = invocation
    })
    return { call, result }
  }

  /** Makes one attempt. */
  const attempt = async (request: Request): Promise<ApiCall> => {
    await sleep(random.between(10, 80))
    const { name, caller, path = {}, body, raw } = request
    const requested = { name, caller, path, sent: raw ?? body }
    if (isPaused()) {
      // API Gateway replies for a paused stage.
      return Object.assign(record(requested), {
        reply: { at: clock.now(), ...PAUSED },
        received: true,
      })
    }
    const { call, result } = await put(requested, eventOf(request))
    if (result.kind !== 'done') {
      await sleep(REPLY_MAX_MS)
      return call
    }
    call.reply = replyIn(result.value as APIGatewayProxyResult, clock.now())
    if (faults.strikes('answer lost')) await sleep(REPLY_MAX_MS)
    else call.received = true
    return call
  }

  /** Retries until a final reply arrives. */
  const ask = async (request: Request): Promise<ApiCall | undefined> => {
    const { triesMax = TRIES_MAX } = request
    for (let attempts = 0; attempts < triesMax; attempts += 1) {
      const twice = faults.strikes('asked twice at once') ? attempt(request) : undefined
      const call = await attempt(request)
      const second = await twice
      const answer = [call, second].find((each) => each && isAnswer(each))
      if (answer) return answer
      await sleep(random.between(500, 4_000) * Math.min(attempts + 1, 15))
    }
    return undefined
  }

  return {
    sleep,
    /** Waits until an instant; returns at once if it has passed. */
    until: (at: number): Promise<void> => sleep(Math.max(0, at - clock.now())),
    ask,
    put,
  }
}
