import { getSecret } from '@aws-lambda-powertools/parameters/secrets'
import { environment } from '../../runtime.ts'

/** A rotated certificate is in use after five minutes. */
const CACHE_FACTOR = 10

/**
 * Returns the text of the client certificate for banks, undefined if the stage has none.
 * @throws Error if Secrets Manager does not return it
 */
export const findClientCertificate = async (): Promise<string | undefined> => {
  const arn = environment.bankClientCertificateArn
  if (!arn) return undefined
  const text = await getSecret(arn, { maxAge: CACHE_FACTOR * environment.cacheSeconds })
  return typeof text === 'string' ? text : ''
}
