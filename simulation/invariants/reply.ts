import type { ApiCall } from '../engine/observations.ts'

/** What callers sent, and what they were told, looked into member by member. */

export type Members = Record<string, unknown>

/** A JSON text or what was parsed from one; nothing for what has no members. */
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

/** The request id that a reply carries, as its header or in its body. */
export const requestIdOf = ({ headers, body }: NonNullable<ApiCall['reply']>): unknown =>
  headers['X-Request-ID'] ?? headers['x-request-id'] ?? membersOf(membersOf(body).meta).request_id

/** Whether a try has told its caller for certain that nothing came of it. */
export const isRefused = ({ reply }: ApiCall): boolean =>
  reply !== undefined && reply.status >= 400 && reply.status < 500

export const isAccepted = ({ reply }: ApiCall): boolean =>
  reply !== undefined && reply.status >= 200 && reply.status < 300

/** A function died, or failed in mid-work: what it wrote is not known. */
export const isUnknown = (call: ApiCall): boolean => !isRefused(call) && !isAccepted(call)
