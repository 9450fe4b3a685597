import { Refusal } from '../domain/refusal.ts'
import { isMistyped, authorizationProblems as problems } from '../domain/token.ts'
import { findCaller } from '../store/providers/credentials.ts'
import { type Guard, headerValues } from './context.ts'
import { countFailure } from './failed-credentials.ts'
import type { Operation } from './operations.ts'

const unauthorized = (details: string): Refusal => new Refusal(1401, { details })

/** Parses the Authorization header: the token, or 401/1401 with the problem. */
const parseToken = (values: readonly string[]): string | Refusal => {
  const value = values.join()
  if (value === '') return unauthorized(problems.missing)
  if (values.length > 1) return unauthorized(problems.repeated)
  // RFC 9110, 11.1: the scheme is case-insensitive.
  if (!/^(?:Bearer|Token)(?: |$)/i.test(value)) return unauthorized(problems.scheme)
  const [, token] = /^\w+ ([A-Za-z0-9._~+/=-]{1,200})$/.exec(value) ?? []
  return token ?? unauthorized(problems.malformed)
}

/** Requires one credential of the operation's kind of caller (docs/api.md#authentication). */
export const credentialGuard = (operation: Operation): Guard => ({
  before: async ({ event }) => {
    const { context } = event
    const token = parseToken(headerValues(event, 'authorization'))
    if (token instanceof Refusal) throw await countFailure(token, event)
    // A mistyped token needs no read.
    const caller = isMistyped(token) ? undefined : await findCaller(token, context.at)
    if (caller?.kind !== operation.caller)
      throw await countFailure(unauthorized(problems.unknown), event)
    context.caller = caller
    if (caller.suspended) throw await countFailure(new Refusal(1403), event)
  },
})
