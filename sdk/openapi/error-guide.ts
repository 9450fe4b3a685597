import { type ErrorCode, errors } from '../../shared/domain/refusal.ts'

/** Writes docs/errors.md: every published code with advice to the caller. */

const repeat = 'Retry the same request after a pause that doubles, at most a minute.'
const report = 'Report it with `request_id`.'
const credential = 'Check the credential and the kind of caller that it belongs to.'
const slowDown = 'Wait `retry_after` seconds, then retry the same request.'
const correct = 'Correct the fields in `details`. The same body gets the same reply.'
const reread = 'Read the debit and continue from its status.'

/** What a caller does about each code. */
const advice: Record<ErrorCode, string> = {
  1000: repeat,
  1007: correct,
  1010: correct,
  1020: 'Check the id. Objects of other callers are not shown.',
  1400: 'Send a JSON object in UTF-8 with the documented headers.',
  1401: credential,
  1402: 'Choose a bank from the list of banks.',
  1403: 'The caller is suspended or may not call this operation. Ask the operator.',
  1404: 'Check the path and the id. Objects of other callers are not shown.',
  1405: 'Use a method from the `Allow` header.',
  1409: 'The state changed or prevents the call: read the object and decide again.',
  1422: correct,
  1429: slowDown,
  1451: 'Call from an address of the allow-list, or ask the operator to add yours.',
  1452: 'Call from a valid address, and report it if you do.',
  1453: 'Too many rejected credentials: correct the credential, then wait a minute.',
  1454: slowDown,
  1455: slowDown,
  1456: slowDown,
  1500: repeat,
  1503: 'Wait the seconds of `Retry-After`, then retry the same request.',
  2001: repeat,
  2002: repeat,
  2003: 'The bank cannot be charged at present. Offer the customer another bank.',
  2010: credential,
  2030: slowDown,
  2100: repeat,
  2408: repeat,
  2500: repeat,
  2502: repeat,
  3001: 'The transaction has another status: `details` names both. Banks: do not retry the report.',
  3002: 'Banks: report `ussd`, `mobile_api` or `web`.',
  3003: 'The partner_reference has another transaction: `details` names it. Use a new reference.',
  3004: 'Send amounts in GHS.',
  3005: '`details` names the limit: the maximum of the bank, or the rest of the day.',
  3006: reread,
  3007: 'Send an amount from 1.00 to 10000.00 with two decimals.',
  3008: 'The customer must activate the account or choose another bank.',
  3009: 'The customer lacks funds. Charge again with a new reference when the customer asks for it.',
  3404: 'Check the reference. Transactions of other providers are not shown.',
  3422: correct,
  4001: 'The webhook is disabled. Repair the receiver, then send a test event.',
  4400: 'Correct the URL or the settings of the webhook.',
  4401: 'The signature is wrong: compare the secret and the raw body.',
  4403: 'Subscribe to the event type, then deliver the event again.',
  4404: 'Ask the operator to set your webhook.',
  4408: 'Respond within five seconds and process the event afterwards.',
  5001: 'The batch is being built or paid. Read it later.',
  5002: 'No completed debit waits for settlement.',
  5003: 'Settlement is in GHS only.',
  5004: report,
  5005: 'The batch is paid already. Read it.',
  5404: 'Check the id. Batches of other providers are not shown.',
}

const INTRODUCTION = `# Idempotency and errors

Every error has a published \`code\`, and \`doc_url\` leads to its row in this guide if the deployment publishes it. Decide by the
code, never show \`message\` to a customer, and quote \`meta.request_id\` to the operator. [API](api.md#errors) describes the envelope.

## Idempotency

- **A charge is safe to retry.** \`partner_reference\` is its idempotency key: the same body returns the existing transaction in its
  current status, with \`Idempotent-Replayed: true\`. Another body gets 409/3003, which names the existing transaction.
- Retry after a network error, 408, 429 and any 5xx, with the same reference and the same body. Wait the seconds of
  \`Retry-After\` if it is there, else 1, 2, 4 ... 60 seconds.
- Do not retry after any other 4xx: the same request gets the same reply.
- A 202 is not a payment. Deliver goods after \`transaction.completed\` only.

## Codes
`

/** Returns the page. Each code has an anchor, such as \`errors.md#c1007\`. */
export const errorGuide = (): string => {
  const rows = Object.entries(errors).map(([code, { message, http, category }]) => {
    const own = advice[Number(code) as ErrorCode]
    return `| <a id="c${code}"></a>${code} | ${http} | ${message} | ${category} | ${own} |`
  })
  return `${INTRODUCTION}\n| Code | HTTP | Message | Category | Advice |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
}
