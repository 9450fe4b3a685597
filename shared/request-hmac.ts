import { createHmac } from 'node:crypto'

/** What a signed request is made of (specification, Authentication, 6). */
export type SignedParts = {
  method: string
  /** With its query, as sent. */
  path: string
  /** Ten digits of epoch seconds, so that no part flows into the next. */
  timestamp: string
  body: string | Buffer
}

/** Lowercase hex of the HMAC-SHA256 over the parts: of providers' requests, and of ours to banks. */
export const requestHmac = (
  secret: string,
  { method, path, timestamp, body }: SignedParts,
): string =>
  createHmac('sha256', secret).update(`${method}${path}${timestamp}`).update(body).digest('hex')
