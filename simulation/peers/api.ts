import type { APIGatewayProxyResult } from 'aws-lambda'
import { operations } from '../../shared/api/operations.ts'
import type { Clock } from '../engine/clock.ts'
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

const PATIENCE_MS = 30_000
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
  ): Promise<{ one: ApiCall; came: InvocationResult<unknown> }> => {
    const one: ApiCall = {
      at: clock.now(),
      ...what,
      reply: undefined,
      received: false,
      invocation: 0,
    }
    calls.push(one)
    const came = await run(what.name, event, (invocation) => {
      one.invocation = invocation
    })
    return { one, came }
  }

  /** Makes one attempt. */
  const attempt = async (request: Request): Promise<ApiCall> => {
    await sleep(random.between(10, 80))
    const { name, caller, path = {}, body } = request
    const { one, came } = await put({ name, caller, path, sent: body }, eventOf(request))
    if (came.kind !== 'done') {
      await sleep(PATIENCE_MS)
      return one
    }
    const { statusCode, headers = {}, body: text } = came.value as APIGatewayProxyResult
    one.reply = {
      at: clock.now(),
      status: statusCode,
      headers: headers as Record<string, unknown>,
      body: JSON.parse(text),
      raw: text,
    }
    if (faults.strikes('answer lost')) await sleep(PATIENCE_MS)
    else one.received = true
    return one
  }

  const isAnswer = ({ reply, received }: ApiCall): boolean =>
    received && reply !== undefined && reply.status < 500 && reply.status !== 429

  /** Retries until a final reply arrives. */
  const ask = async (request: Request): Promise<ApiCall | undefined> => {
    for (let tried = 0; tried < TRIES_MAX; tried += 1) {
      const twice = faults.strikes('asked twice at once') ? attempt(request) : undefined
      const one = await attempt(request)
      const other = await twice
      const answer = [one, other].find((each) => each && isAnswer(each))
      if (answer) return answer
      await sleep(random.between(500, 4_000) * Math.min(tried + 1, 15))
    }
    return undefined
  }

  return {
    sleep,
    ask,
    /** Runs an operator command, with retries. */
    operate: async (name: 'manage-debit', verb: string, options: Record<string, string>) => {
      for (let tried = 0; tried < TRIES_MAX; tried += 1) {
        const call = { verb, options }
        const { one, came } = await put({ name, caller: undefined, path: {}, sent: call }, call)
        if (came.kind === 'done') {
          const status = 'error' in (came.value as object) ? 400 : 200
          one.reply = { at: clock.now(), status, headers: {}, body: came.value }
          one.received = true
          return one
        }
        await sleep(random.between(1_000, 30_000))
      }
      return undefined
    },
  }
}
