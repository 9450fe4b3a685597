import { type Addresses, environmentOf } from '../infra/definitions/environment.ts'
import { functionRows } from '../infra/definitions/functions.ts'

/** The variables of all functions, which share one process here. */

export const REGION = 'eu-west-1'
/** A cache would be shared as well. */
const CACHE_SECONDS = 0

type Settings = { timeScale: number; webhookHosts?: readonly string[] }

/** The SDK's clients require credentials, which nobody checks. */
export const useLocalCredentials = (): void => {
  process.env.AWS_REGION = REGION
  process.env.AWS_ACCESS_KEY_ID ??= 'sandbox'
  process.env.AWS_SECRET_ACCESS_KEY ??= 'sandbox'
}

export const setEnvironment = (
  { timeScale, webhookHosts = [] }: Settings,
  host: string,
  addresses: Addresses,
): void => {
  const settings = {
    stage: 'sandbox',
    referencePrefix: 'DCS',
    hasSandboxBank: true,
    payoutsWaitForFunding: false,
    approvals: false,
    ownHosts: [host],
  }
  for (const row of functionRows)
    Object.assign(process.env, environmentOf(row, settings, addresses))
  Object.assign(process.env, {
    TIME_SCALE: String(timeScale),
    CACHE_SECONDS: String(CACHE_SECONDS),
    LOCAL_PEERS: ['127.0.0.1', ...webhookHosts].join(','),
    APPROVALS: 'false',
    POWERTOOLS_METRICS_DISABLED: 'true',
    POWERTOOLS_LOG_LEVEL: process.env.POWERTOOLS_LOG_LEVEL ?? 'ERROR',
  })
}
