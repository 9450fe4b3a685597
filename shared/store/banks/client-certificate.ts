import { getSecret } from '@aws-lambda-powertools/parameters/secrets'
import { environment } from '../../runtime.ts'

/** Times the usual cache of 30 s: functions use a rotated certificate within five minutes. */
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
