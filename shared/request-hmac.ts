import { createHmac } from 'node:crypto'

/** The signed parts of a request (docs/api.md#request-signing). */
type SignedParts = {
  method: string
  /** With the query, as sent. */
  path: string
  /** Ten digits of epoch seconds, so that the parts are unambiguous. */
  timestamp: string
  body: string | Buffer
}

/** Returns the lowercase hex HMAC-SHA256 of a request from a provider, or of ours to a bank. */
export const requestHmac = (secret: string, { method, path, timestamp, body }: SignedParts) =>
  createHmac('sha256', secret).update(`${method}${path}${timestamp}`).update(body).digest('hex')
