import type { APIGatewayProxyResult } from 'aws-lambda'
import type { Clock } from '../../aws/clock.ts'
import { operations } from '../../shared/api/operations.ts'
import type { Faults } from '../engine/faults.ts'
import type { FunctionName } from '../engine/functions.ts'
import type { InvocationResult } from '../engine/invocations.ts'
import type { ApiCall } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'
import type { Run } from '../engine/warm-functions.ts'

/** The API's callers: they retry until they receive a final reply. */

type OperationName = Extract<FunctionName, keyof typeof operations>

export type Request = {
  name: OperationName
  caller: { kind: 'provider' | 'bank'; id: string }
  path?: Record<string, string>
  body?: unknown
}

type Deps = {
  clock: Clock
  random: Random
  faults: Faults
  run: Run
  calls: ApiCall[]
}

export type Api = ReturnType<typeof newApi>

const REPLY_MAX_MS = 30_000
const TRIES_MAX = 60

export const tokenOf = ({ kind, id }: { kind: string; id: string }): string =>
  `${kind === 'provider' ? 'sk' : 'bt'}_simulated_${id.toLowerCase()}`

const eventOf = ({ name, caller, path = {}, body }: Request) => {
  const { method, path: resource } = operations[name]
  const headers = {
    Authorization: `Bearer ${tokenOf(caller)}`,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  }
  const spelled = resource.replaceAll(/\{(\w+)\}/g, (_, part: string) => path[part] ?? '')
  return {
    resource,
    path: spelled,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [key, [value]]),
    ),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: path,
    stageVariables: null,
    requestContext: { path: spelled, identity: { sourceIp: '203.0.113.7' } },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
  }
}

export const newApi = ({ clock, random, faults, run, calls }: Deps) => {
  const sleep = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(milliseconds, resolve)
    })

  /** Invokes a function and records the call. */
  const put = async (
    what: Pick<ApiCall, 'caller' | 'path' | 'sent'> & { name: FunctionName },
    event: unknown,
  ): Promise<{ call: ApiCall; result: InvocationResult<unknown> }> => {
    const call: ApiCall = {
      at: clock.now(),
      ...what,
      reply: undefined,
      received: false,
      invocation: 0,
    }
    calls.push(call)
    const result = await run(what.name, event, (invocation) => {
      call.invocation = invocation
    })
    return { call, result }
  }

  /** Makes one attempt. */
  const attempt = async (request: Request): Promise<ApiCall> => {
    await sleep(random.between(10, 80))
    const { name, caller, path = {}, body } = request
    const { call, result } = await put({ name, caller, path, sent: body }, eventOf(request))
    if (result.kind !== 'done') {
      await sleep(REPLY_MAX_MS)
      return call
    }
    const { statusCode, headers = {}, body: text } = result.value as APIGatewayProxyResult
    call.reply = {
      at: clock.now(),
      status: statusCode,
      headers: headers as Record<string, unknown>,
      body: JSON.parse(text),
      raw: text,
    }
    if (faults.strikes('answer lost')) await sleep(REPLY_MAX_MS)
    else call.received = true
    return call
  }

  const isAnswer = ({ reply, received }: ApiCall): boolean =>
    received && reply !== undefined && reply.status < 500 && reply.status !== 429

  /** Retries until a final reply arrives. */
  const ask = async (request: Request): Promise<ApiCall | undefined> => {
    for (let attempts = 0; attempts < TRIES_MAX; attempts += 1) {
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
    ask,
    /** Runs an operator command, with retries. */
    operate: async (
      name: 'manage-debit' | 'manage-settlement',
      verb: string,
      options: Record<string, string>,
    ) => {
      for (let attempts = 0; attempts < TRIES_MAX; attempts += 1) {
        const request = { verb, options }
        const { call, result } = await put(
          { name, caller: undefined, path: {}, sent: request },
          request,
        )
        if (result.kind === 'done') {
          const status = 'error' in (result.value as object) ? 400 : 200
          call.reply = { at: clock.now(), status, headers: {}, body: result.value }
          call.received = true
          return call
        }
        await sleep(random.between(1_000, 30_000))
      }
      return undefined
    },
  }
}
