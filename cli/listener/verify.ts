import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Verifies webhooks as a receiver does; shares no code with the signer. */

export type Arrival = { headers: IncomingHttpHeaders; raw: Buffer }

const TOLERANCE_SECONDS = 300

const text = (header: string | string[] | undefined): string => [header ?? ''].flat().join()

const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]): Buffer => {
  const made = createHmac('sha256', key)
  for (const part of parts) made.update(part)
  return made.digest()
}

const isOneOf = (expected: string, given: readonly string[]): boolean =>
  given
    .map((one) => Buffer.from(one))
    .some((one) => one.length === expected.length && timingSafeEqual(one, Buffer.from(expected)))

/** Accepts the old and the new signature during a rotation. */
const signsBody = ({ headers, raw }: Arrival, secret: string): boolean =>
  isOneOf(
    hmac(secret, raw).toString('hex'),
    [headers['x-svc-signature'], headers['x-svc-signature-previous']].map((header) =>
      text(header).replace(/^sha256=/, ''),
    ),
  )

const signsAll = ({ headers, raw }: Arrival, secret: string): boolean => {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const head = `${text(headers['webhook-id'])}.${text(headers['webhook-timestamp'])}.`
  return isOneOf(
    `v1,${hmac(key, head, raw).toString('base64')}`,
    text(headers['webhook-signature']).split(' '),
  )
}

const isRecent = ({ headers }: Arrival, now: Date): boolean =>
  Math.abs(now.getTime() / 1000 - Number(text(headers['webhook-timestamp']) || Number.NaN)) <=
  TOLERANCE_SECONDS

/** Returns the reason why a webhook is not genuine, or undefined. */
export const verify = (arrival: Arrival, secret: string, now: Date): string | undefined => {
  if (!signsBody(arrival, secret)) return 'X-SVC-Signature is wrong'
  if (!signsAll(arrival, secret)) return 'webhook-signature is wrong'
  if (!isRecent(arrival, now)) return 'not signed within the last five minutes'
  return undefined
}
