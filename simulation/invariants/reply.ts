import type { ApiCall } from '../engine/observations.ts'

/** Request and reply bodies. */

export type Members = Record<string, unknown>

/** Returns the members of JSON text or of an object, else none. */
export const membersOf = (value: unknown): Members => {
  if (typeof value === 'string') {
    try {
      return membersOf(JSON.parse(value))
    } catch {
      return {}
    }
  }
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

export const codeIn = (body: Members): unknown => membersOf(body.error).code

/** Returns the request id of a reply. */
export const requestIdOf = ({ headers, body }: NonNullable<ApiCall['reply']>): unknown =>
  headers['X-Request-ID'] ?? headers['x-request-id'] ?? membersOf(membersOf(body).meta).request_id

export const isRefused = ({ reply }: ApiCall): boolean =>
  reply !== undefined && reply.status >= 400 && reply.status < 500

export const isAccepted = ({ reply }: ApiCall): boolean =>
  reply !== undefined && reply.status >= 200 && reply.status < 300

/** Reports whether the effect is unknown: no reply, or a 5xx. */
export const isUnknown = (call: ApiCall): boolean => !isRefused(call) && !isAccepted(call)
