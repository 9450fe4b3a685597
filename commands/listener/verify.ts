import type { IncomingHttpHeaders } from 'node:http'
import { verify as verifyByKit } from '../../sdk/typescript/src/signature.ts'

/** Verifies webhooks as a receiver does; shares no code with the signer. */

const TOLERANCE_SECONDS = 300

/** Returns the problem with a webhook's signature (docs/webhooks.md#verification), or undefined. */
export const verify = async (
  { headers, body }: { headers: IncomingHttpHeaders; body: Buffer },
  secret: string,
  now: Date,
): Promise<string | undefined> => {
  const isSigned = (by: IncomingHttpHeaders) =>
    verifyByKit(body, by, secret).then(
      () => true,
      () => false,
    )
  const age = now.getTime() / 1000 - Number(headers['x-svc-timestamp'])
  if (Math.abs(age) > TOLERANCE_SECONDS) return 'not signed within the last five minutes'
  // The kit accepts either signature; the service sends both.
  const { 'webhook-signature': standard = '', ...published } = headers
  if (!(await isSigned(published))) return 'X-SVC-Signature is wrong'
  const isStandard = await isSigned({ ...published, 'webhook-signature': standard })
  return isStandard ? undefined : 'webhook-signature is wrong'
}
