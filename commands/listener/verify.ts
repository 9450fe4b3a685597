import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Verifies webhooks as a receiver does; shares no code with the signer. */

type WebhookRequest = { headers: IncomingHttpHeaders; body: Buffer }

const TOLERANCE_SECONDS = 300

const text = (header: string | string[] | undefined): string => [header ?? ''].flat().join()

const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]): Buffer => {
  const digest = createHmac('sha256', key)
  for (const part of parts) digest.update(part)
  return digest.digest()
}

const isOneOf = (expected: string, signatures: readonly string[]): boolean =>
  signatures
    .map((signature) => Buffer.from(signature))
    .some(
      (bytes) => bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected)),
    )

/** Accepts the old and the new signature during a rotation. */
const matchesBodySignature = ({ headers, body }: WebhookRequest, secret: string): boolean =>
  isOneOf(
    hmac(secret, body).toString('hex'),
    [headers['x-svc-signature'], headers['x-svc-signature-previous']].map((header) =>
      text(header).replace(/^sha256=/, ''),
    ),
  )

const matchesStandardSignature = ({ headers, body }: WebhookRequest, secret: string): boolean => {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const head = `${text(headers['webhook-id'])}.${text(headers['webhook-timestamp'])}.`
  return isOneOf(
    `v1,${hmac(key, head, body).toString('base64')}`,
    text(headers['webhook-signature']).split(' '),
  )
}

const isRecent = ({ headers }: WebhookRequest, now: Date): boolean =>
  Math.abs(now.getTime() / 1000 - Number(text(headers['webhook-timestamp']) || Number.NaN)) <=
  TOLERANCE_SECONDS

/** Returns the problem with a webhook's signature (docs/webhooks.md#verification), or undefined. */
export const verify = (request: WebhookRequest, secret: string, now: Date): string | undefined => {
  if (!matchesBodySignature(request, secret)) return 'X-SVC-Signature is wrong'
  if (!matchesStandardSignature(request, secret)) return 'webhook-signature is wrong'
  if (!isRecent(request, now)) return 'not signed within the last five minutes'
  return undefined
}
