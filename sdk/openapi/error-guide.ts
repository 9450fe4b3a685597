import { type ErrorCode, errors } from '../../shared/domain/refusal.ts'
import { statusesByCode } from './responses.ts'

/** Writes docs/errors.md: every published code with advice to the caller. */

const repeat = '[Retry](#idempotency).'
const report = 'Report it with `request_id`.'
const credential = 'Check the credential and its kind of caller.'
const slowDown = 'Retry after `retry_after` seconds.'
const correct = 'Correct the fields in `details`.'
const reread = 'Read the debit and continue from its status.'

/** What a caller does about each code. */
const advice: Record<ErrorCode, string> = {
  1000: repeat,
  1007: correct,
  1010: correct,
  1020: 'Check the id.',
  1400: 'Send a JSON object in UTF-8 with the documented headers.',
  1401: credential,
  1402: 'Choose a bank from the list of banks.',
  1403: 'Ask the operator: you are suspended, or may not call this.',
  1404: 'Check the path and the id.',
  1405: 'Use a method from the `Allow` header.',
  1409: 'Read the object and decide again.',
  1422: correct,
  1429: slowDown,
  1451: 'Ask the operator to add your address to the allow-list.',
  1452: 'Call from a valid address.',
  1453: 'Correct the credential, then wait a minute.',
  1454: slowDown,
  1455: slowDown,
  1456: slowDown,
  1500: repeat,
  1503: repeat,
  2001: repeat,
  2002: repeat,
  2003: 'Offer the customer another bank.',
  2010: credential,
  2030: slowDown,
  2100: repeat,
  2408: repeat,
  2500: repeat,
  2502: repeat,
  3001: '`details` has both statuses. Banks: do not retry the report.',
  3002: 'Banks: report `ussd`, `mobile_api` or `web`.',
  3003: 'Read the debit in `details`. Use a new `partner_reference` only if that debit is of another order.',
  3004: 'Send amounts in GHS.',
  3005: '`details` has the limit, of the bank or the day.',
  3006: reread,
  3007: 'Send an amount from 1.00 to 10000.00 with two decimals.',
  3008: 'The customer activates the account or chooses another bank.',
  3009: 'Charge with a new reference when the customer asks for it.',
  3404: 'Check the reference.',
  3422: correct,
  4001: 'Repair the receiver, then send a test event.',
  4400: 'Correct the URL or the settings of the webhook.',
  4401: 'Compare the secret and the raw body.',
  4403: 'Subscribe to the event type, then deliver the event again.',
  4404: 'Ask the operator to set your webhook.',
  4408: 'Respond within five seconds, then process the event.',
  5001: 'Read the batch later.',
  5002: 'No completed debit waits for settlement.',
  5003: 'Settlement is in GHS only.',
  5004: report,
  5005: 'Read the batch: it is paid, or its bank rejected the payout.',
  5404: 'Check the id.',
}

const INTRODUCTION = `# Idempotency and errors

Decide by the \`code\` of an error, to whose row \`doc_url\` leads. Never show \`message\` to a customer, and quote \`meta.request_id\` to the
operator. Objects of other callers are [not found](api.md#not-found).

## Idempotency

- **A charge is safe to retry** with the same \`partner_reference\` and body: the reply is the [existing
  transaction](api.md#idempotency). Another body gets 409/3003.
- Retry after a network error, 408, 429 and any 5xx. Wait the seconds of \`Retry-After\`, else 1, 2, 4 ... 60 seconds.
- Do not retry after another 4xx: the same request gets the same reply.
- A 202 is not a payment. Deliver goods after \`transaction.completed\` only.

## Codes
`

/** Returns the page. Each code has an anchor, such as \`errors.md#c1007\`. */
export const errorGuide = (): string => {
  const sent = statusesByCode()
  const rows = Object.entries(errors).map(([text, { message, http }]) => {
    const code = Number(text) as ErrorCode
    const statuses = [...(sent.get(code) ?? [http])].sort((a, b) => a - b).join(', ')
    return `| <a id="c${code}"></a>${code} | ${statuses} | ${message} | ${advice[code]} |`
  })
  return `${INTRODUCTION}\n| Code | HTTP | Message | Advice |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
