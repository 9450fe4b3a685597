import { openRequestSecrets } from '../store/providers/request-secrets.ts'
import { checkAddress } from './address.ts'
import { type ApiEvent, type Guard, headerValues, orThrow } from './context.ts'
import { checkSignature, type SignedRequest } from './request-signature.ts'
import { signedTargets } from './signed-targets.ts'

/** Checks the address (403) and the request signature (401) if the provider's settings require it. */
export const providerGuard: Guard = {
  before: async ({ event }) => {
    const { caller, at } = event.context
    if (caller?.kind !== 'provider') return
    const { id, allowedAddresses, requestSigning } = caller.provider
    if (allowedAddresses) {
      orThrow(checkAddress(event.requestContext?.identity?.sourceIp, allowedAddresses))
    }
    if (requestSigning) {
      const secrets = await openRequestSecrets(id, requestSigning, at)
      orThrow(checkSignature(signedRequest(event), secrets, at))
    }
  },
}

const single = (values: string[]) => (values.length === 1 ? values[0] : undefined)

const signedRequest = (event: ApiEvent): SignedRequest => {
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
    signature: single(headerValues(event, 'x-signature')),
    timestamp: single(headerValues(event, 'x-timestamp')),
  }
}
