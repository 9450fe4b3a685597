import { SecretsProvider } from '@aws-lambda-powertools/parameters/secrets'
import { clientLimits } from '../../client-limits.ts'
import { environment } from '../../runtime.ts'

/** Times the usual cache of 30 s: functions use a rotated certificate within five minutes. */
const CACHE_FACTOR = 10

let secrets: SecretsProvider | undefined

/**
 * Returns the text of the client certificate for banks, undefined if the stage has none.
 * @throws Error if Secrets Manager does not return it
 */
export const findClientCertificate = async (): Promise<string | undefined> => {
  const arn = environment.bankClientCertificateArn
  if (!arn) return undefined
  secrets ??= new SecretsProvider({ clientConfig: clientLimits.secrets })
  const text = await secrets.get(arn, { maxAge: CACHE_FACTOR * environment.cacheSeconds })
  return typeof text === 'string' ? text : ''
}
