import { Agent, request } from 'undici'
import type { Outcome } from '../domain/delivery.ts'

/** One attempt at one receiver: bounded in time and in what is read, and never redirected. */

/** More of a receiver's answer than this is neither read nor kept. */
const BODY_MAX_BYTES = 4 * 1024

export type Parcel = {
  url: string
  headers: Record<string, string>
  body: string
  timeoutSeconds: number
  connectionTimeoutSeconds: number
}

// One agent per connection timeout, of which the settings allow few; connections are kept alive.
const agents = new Map<number, Agent>()

const agentFor = (connectionTimeoutSeconds: number): Agent => {
  const known = agents.get(connectionTimeoutSeconds)
  if (known) return known
  const agent = new Agent({ connect: { timeout: connectionTimeoutSeconds * 1000 }, pipelining: 1 })
  agents.set(connectionTimeoutSeconds, agent)
  return agent
}

/** Lets go of idle connections, so that a process can end. */
export const closeConnections = async (): Promise<void> => {
  const open = [...agents.values()]
  agents.clear()
  await Promise.all(open.map((agent) => agent.close()))
}

/** POSTs a webhook. Whatever happens is an outcome; nothing is thrown. */
export const post = async (parcel: Parcel): Promise<Outcome> => {
  // Over the whole attempt: a body that drips would outlive every timeout between two bytes.
  const signal = AbortSignal.timeout(parcel.timeoutSeconds * 1000)
  try {
    const response = await request(parcel.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'debit-collection-webhooks/1',
        ...parcel.headers,
      },
      body: parcel.body,
      dispatcher: agentFor(parcel.connectionTimeoutSeconds),
      signal,
    })
    const retryAfterSeconds = retryAfter(response.headers['retry-after'])
    return {
      kind: 'answered',
      code: response.statusCode,
      body: await readStart(response.body),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    }
  } catch (error) {
    return { kind: 'unreached', cause: causeOf(error) }
  }
}

/** The seconds form only; a date would let a receiver's clock decide. */
const retryAfter = (value: string | string[] | undefined): number | undefined =>
  typeof value === 'string' && /^[0-9]{1,9}$/.test(value) ? Number(value) : undefined

type Body = Awaited<ReturnType<typeof request>>['body']

/** The status has decided already, so a body that breaks off or drips is cut, not a failure. */
const readStart = async (body: Body): Promise<string> => {
  const parts: Buffer[] = []
  let length = 0
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part)
      length += part.length
      if (length >= BODY_MAX_BYTES) break
    }
  } catch {
    // What came before the break is what there is to keep.
  }
  return Buffer.concat(parts).subarray(0, BODY_MAX_BYTES).toString('utf8')
}

type Cause = Extract<Outcome, { kind: 'unreached' }>['cause']

const CAUSES: Record<string, Cause> = {
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ETIMEDOUT: 'connect_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'read_timeout',
  UND_ERR_BODY_TIMEOUT: 'read_timeout',
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
}

const causeOf = (error: unknown): Cause => {
  const { name, code = '' } = error as { name?: string; code?: string }
  if (name === 'TimeoutError' || name === 'AbortError') return 'read_timeout'
  if (/CERT|TLS|SSL|EPROTO|UNABLE_TO_(?:GET|VERIFY)/.test(code)) return 'tls'
  return CAUSES[code] ?? 'broken'
}
