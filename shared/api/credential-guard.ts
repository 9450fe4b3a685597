import { Refusal } from '../domain/refusal.ts'
import { isMistyped } from '../domain/token.ts'
import { findCaller } from '../store/credentials.ts'
import { sha256 } from '../store/table.ts'
import { countRequest } from '../store/windows.ts'
import { type ApiEvent, type Guard, headerValues } from './exchange.ts'
import type { Operation } from './operations.ts'
import { rateRefusal } from './rate-guard.ts'

const CREDENTIAL = /^(?:Bearer|Token) ([A-Za-z0-9._~+/=-]{1,200})$/

/** A minute's failed credentials from one address before they are answered with 429. */
const FAILURES_PER_MINUTE = 30

/** 401/1401 unless the request carries one credential of the operation's kind of caller. */
export const credentialGuard = (operation: Operation): Guard => ({
  before: async ({ event }) => {
    const { exchange } = event
    const values = headerValues(event, 'authorization')
    const token = values.length === 1 ? CREDENTIAL.exec(values[0] ?? '')?.[1] : undefined
    // What cannot be a token is not looked for.
    const isGood = token !== undefined && !isMistyped(token)
    const caller = isGood ? await findCaller(token, exchange.at) : undefined
    if (caller?.kind !== operation.caller) return refuseCredential(event)
    if (caller.suspended) throw new Refusal(1403)
    exchange.caller = caller
  },
})

/** 401, or 429/1453 for an address that guesses. Callers with a good credential are not counted. */
const refuseCredential = async ({ exchange, requestContext }: ApiEvent): Promise<never> => {
  const address = requestContext?.identity?.sourceIp ?? 'unknown'
  const scope = `address#${sha256(address)}`
  exchange.rate = await countRequest(scope, FAILURES_PER_MINUTE, exchange.at)
  throw exchange.rate.exceeded ? rateRefusal(1453, exchange) : new Refusal(1401)
}
