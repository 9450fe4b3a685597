import { Refusal } from '../domain/refusal.ts'
import { isMistyped, looksIssued, authorizationProblems as problems } from '../domain/token.ts'
import { log } from '../log.ts'
import { environment } from '../runtime.ts'
import { sha256 } from '../store/keys.ts'
import { findCaller } from '../store/providers/credentials.ts'
import { openRequestSecrets } from '../store/providers/request-secrets.ts'
import { countRequest } from '../store/rate-limit.ts'
import { addressScope, checkAddress } from './address.ts'
import { type ApiEvent, type Guard, orThrow } from './context.ts'
import type { Operation } from './operations.ts'
import { rateRefusal } from './rate-guard.ts'
import { checkSignature, type SignedRequest } from './request-signature.ts'
import { signedTargets } from './signed-targets.ts'

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
    const token = parseToken(context.headers.get('authorization') ?? [])
    if (token instanceof Refusal) throw await countFailure(token, event)
    // Production has no chosen tokens. A mistyped one needs no read.
    const mayExist = !isMistyped(token)
    context.hasToken = mayExist && (environment.limits !== 'production' || looksIssued(token))
    const caller = mayExist && (await findCaller(token, context.at))
    if (!caller || caller.kind !== operation.caller)
      throw await countFailure(unauthorized(problems.unknown), event)
    context.caller = caller
    if (caller.suspended) throw await countFailure(new Refusal(1403), event)
  },
})

/** Rejected credentials per minute and scope; above this limit the reply is 429/1453. */
const FAILURES_PER_MINUTE = 30

/**
 * Counts a rejected credential per address, or per key and address if the key is known. Accepted
 * requests count in other scopes, so an attacker cannot block the owner of a key.
 * @returns the refusal, or 429/1453 above the limit (docs/api.md#failed-credentials)
 */
const countFailure = async (
  refusal: Refusal,
  { context, requestContext }: ApiEvent,
): Promise<Refusal> => {
  const key = context.caller?.credential ?? ''
  const address = addressScope(requestContext?.identity?.sourceIp)
  const scope = `address#${sha256(`${key}#${address}`)}`
  context.credentialRefused = true
  context.rate = await countRequest(scope, FAILURES_PER_MINUTE, context.receivedAt)
  return context.rate.exceeded ? rateRefusal(1453, context) : refusal
}

/** Wraps a guard and counts each of its refusals as a failed credential. */
export const countingFailures = (guard: Guard): Guard => ({
  before: async (request) => {
    try {
      await guard.before?.(request)
    } catch (error) {
      throw error instanceof Refusal ? await countFailure(error, request.event) : error
    }
  },
})

/** Checks the address (403) and the request signature (401) if the provider's settings require it. */
export const providerGuard: Guard = {
  before: async ({ event }) => {
    const { caller, at, receivedAt } = event.context
    if (caller?.kind !== 'provider') return
    const { id, allowedAddresses, requestSigning } = caller.provider
    if (allowedAddresses) {
      orThrow(checkAddress(event.requestContext?.identity?.sourceIp, allowedAddresses))
    }
    if (requestSigning) {
      const secrets = await openRequestSecrets(id, requestSigning, at)
      if (secrets.length === 0) {
        const error = new Error('The request-signing secret cannot be opened')
        log.error('fault', { provider: id, error }, { SecretsUnreadable: 1 })
      }
      orThrow(checkSignature(signedRequest(event), secrets, receivedAt))
    }
  },
}

const single = (values: string[]) => (values.length === 1 ? values[0] : undefined)

const signedRequest = (event: ApiEvent): SignedRequest => {
  const { headers } = event.context
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  const pairs = Object.entries(event.multiValueQueryStringParameters ?? {}).flatMap(
    ([key, values = []]) => values.map((value): [string, string] => [key, value]),
  )
  return {
    method: event.httpMethod,
    targets: signedTargets({
      // On API Gateway's own domain the signed path begins with the stage.
      paths: [event.path, event.requestContext?.path ?? event.path],
      pairs,
      bodyBytes: body.length,
    }),
    body,
    signature: single(headers.get('x-signature') ?? []),
    timestamp: single(headers.get('x-timestamp') ?? []),
  }
}
