import { createHmac } from 'node:crypto'
import type { APIGatewayProxyResult } from 'aws-lambda'
import type { FunctionName } from '../../../infra/definitions/function-permissions.ts'
import { operations } from '../../../shared/api/operations.ts'
import type { Engine } from '../engine/faults.ts'
import type { ApiCall } from '../engine/observations.ts'
import type { Run } from '../engine/warm-functions.ts'

/** The API's callers: they retry until they receive a final reply. */

export type Caller = { kind: 'provider' | 'bank'; id: string }

export type Request = {
  name: Extract<FunctionName, keyof typeof operations>
  caller: Caller
  path?: Record<string, string>
  body?: unknown
  /** The exact text of a body that is not JSON. */
  raw?: string
  query?: Record<string, string>
  /** Instead of the caller's own one. */
  token?: string
  triesMax?: number
}

type Deps = Engine & {
  run: Run
  calls: ApiCall[]
  isPaused: () => boolean
  /** Who does not exist at the start, by id. */
  absent?: Readonly<Record<string, string>>
}

export type Api = ReturnType<typeof newApi>

const REPLY_MAX_MS = 30_000
export const TRIES_MAX = 60

export const tokenOf = ({ kind, id }: { kind: string; id: string }): string =>
  `${kind === 'provider' ? 'sk' : 'bt'}_simulated_${id.toLowerCase()}`

/** The secrets of the providers that sign their requests from the start. */
export const requestSecrets: Readonly<Record<string, string>> = { delta: 'rs_simulated_delta' }

/** Each provider has two credentials from the start. */
export const secondTokenOf = (id: string): string => `${tokenOf({ kind: 'provider', id })}_2`

const SECOND_SHARE = 0.3

/** A caller's token, the secret that signs its requests, and the ones before. */
type Credentials = {
  token: string
  previous?: string | undefined
  secret?: string | undefined
  previousSecret?: string | undefined
}

const signatureOf = (
  secret: string,
  { method, target, text }: Record<'method' | 'target' | 'text', string>,
  at: number,
) => {
  const timestamp = String(Math.floor(at / 1000))
  const signed = createHmac('sha256', secret).update(`${method}${target}${timestamp}${text}`)
  return { 'X-Signature': signed.digest('hex'), 'X-Timestamp': timestamp }
}

const eventOf = (request: Request, { token, secret }: Credentials, at: number) => {
  const { name, path = {}, body, raw, query } = request
  const { method, path: resource } = operations[name]
  const lists = query && Object.entries(query).map(([key, value]) => [key, [value]])
  const spelled = resource.replaceAll(/\{(\w+)\}/g, (_, part: string) => path[part] ?? '')
  const text: string | undefined = raw ?? JSON.stringify(body)
  const target = query ? `${spelled}?${new URLSearchParams(query)}` : spelled
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(secret === undefined ? {} : signatureOf(secret, { method, target, text: text ?? '' }, at)),
  }
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
    body: text ?? null,
    isBase64Encoded: false,
  }
}

/** The credentials of callers, from the replies to operators. */
const newCredentials = (absent: object) => {
  const byCaller = new Map<string, Credentials>()
  const first = (caller: Caller): Credentials => {
    const secret = caller.id in absent ? undefined : requestSecrets[caller.id]
    return { token: tokenOf(caller), secret }
  }
  const of = (caller: Caller): Credentials => byCaller.get(caller.id) ?? first(caller)
  return {
    of,
    /** Learns a token or secret. A `request-secret` of none ends signatures. */
    learn: (caller: Caller, reply: Record<string, string>): void => {
      const known = of(caller)
      const { token, request_secret: own = known.secret, 'request-secret': none } = reply
      const tokens = token === undefined ? known : { token, previous: known.token }
      const secret = none ? undefined : own
      const previousSecret = secret === known.secret ? known.previousSecret : known.secret
      byCaller.set(caller.id, { ...tokens, secret, previousSecret })
    },
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

/** The share of signed requests whose clock is minutes off; the service accepts 300 s. */
const DRIFT_SHARE = 0.1
const DRIFT_MS = 900_000
/** The share of requests that are signed with the secret before the current one. */
const PREVIOUS_SHARE = 0.05

type Requested = Pick<ApiCall, 'caller' | 'path' | 'sent' | 'token' | 'secret' | 'drift'> & {
  name: FunctionName
}

export const newApi = ({ clock, random, faults, run, calls, isPaused, absent = {} }: Deps) => {
  const sleep = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(milliseconds, resolve)
    })

  const credentials = newCredentials(absent)

  const record = (requested: Requested): ApiCall => {
    const at = clock.now()
    const call = { at, ...requested, reply: undefined, received: false, invocation: 0 }
    calls.push(call)
    return call
  }

  const put = async (requested: Requested, event: unknown) => {
    const call = record(requested)
    const result = await run(requested.name, event, (invocation) => {
      call.invocation = invocation
    })
    return { call, result }
  }

  const attempt = async (request: Request): Promise<ApiCall> => {
    await sleep(random.between(10, 80))
    const { name, caller, path = {}, body, raw } = request
    const { secret: current, previousSecret, token: own } = credentials.of(caller)
    const isPrevious = previousSecret !== undefined && random.happens(PREVIOUS_SHARE)
    const secret = isPrevious ? previousSecret : current
    const hasSecond =
      own === tokenOf(caller) && caller.kind === 'provider' && !(caller.id in absent)
    const usual = hasSecond && random.happens(SECOND_SHARE) ? secondTokenOf(caller.id) : own
    const { token = usual } = request
    const isOff = secret !== undefined && random.happens(DRIFT_SHARE)
    const drift = isOff ? random.between(-DRIFT_MS, DRIFT_MS) : 0
    const requested = { name, caller, path, sent: raw ?? body, token, secret, drift }
    if (isPaused()) {
      // API Gateway replies for a paused stage.
      const reply = { at: clock.now(), ...PAUSED }
      return Object.assign(record(requested), { reply, received: true })
    }
    const event = eventOf(request, { token, secret }, clock.now() + drift)
    const { call, result } = await put(requested, event)
    if (result.kind !== 'done') {
      await sleep(REPLY_MAX_MS)
      return call
    }
    call.reply = replyIn(result.value as APIGatewayProxyResult, clock.now())
    if (faults.strikes('answer lost')) await sleep(REPLY_MAX_MS)
    else call.received = true
    return call
  }

  /** A caller repeats a request that it has signed by a wrong clock, or with an earlier secret. */
  const isMissigned = ({ caller, secret, drift, reply }: ApiCall): boolean =>
    reply?.status === 401 &&
    caller !== undefined &&
    (drift !== 0 || secret !== credentials.of(caller).secret)

  const ask = async (request: Request): Promise<ApiCall | undefined> => {
    const { triesMax = TRIES_MAX } = request
    for (let attempts = 0; attempts < triesMax; attempts += 1) {
      const twice = faults.strikes('asked twice at once') ? attempt(request) : undefined
      const call = await attempt(request)
      const second = await twice
      const answer = [call, second].find((each) => each && isAnswer(each) && !isMissigned(each))
      if (answer) return answer
      await sleep(random.between(500, 4_000) * Math.min(attempts + 1, 15))
    }
    return undefined
  }

  return {
    now: (): number => clock.now(),
    sleep,
    until: (at: number): Promise<void> => sleep(Math.max(0, at - clock.now())),
    ask,
    put,
    credentials,
  }
}
