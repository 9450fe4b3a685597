import { type Addresses, environmentOf } from '../infra/definitions/environment.ts'
import type { FunctionRow } from '../infra/definitions/functions.ts'
import type { Endpoints } from './emulator/endpoints.ts'
import { errorGuideAt } from './sandbox-reply.ts'

/** The environment variables of the functions. */

export const REGION = 'eu-west-1'
/** Disables caches: changes take effect at once, and functions in one process would share a cache. */
const CACHE_SECONDS = 0

type Settings = { timeScale: number; approvals: boolean; webhookHosts?: readonly string[] }

/** The SDK's clients require credentials, which nobody checks. */
export const useLocalCredentials = (): void => {
  process.env.AWS_REGION = REGION
  process.env.AWS_ACCESS_KEY_ID ??= 'sandbox'
  process.env.AWS_SECRET_ACCESS_KEY ??= 'sandbox'
}

/** Returns the variables of a stack, and those that only a sandbox sets. */
export const functionVariables = (
  row: FunctionRow,
  { timeScale, approvals, webhookHosts = [] }: Settings,
  host: string,
  addresses: Addresses,
): Record<string, string> => {
  const settings = {
    stage: 'sandbox',
    referencePrefix: 'DCS',
    hasSandboxBank: true,
    payoutsWaitForFunding: false,
    approvals,
    ownHosts: [host],
    errorGuide: errorGuideAt(host),
  }
  return {
    ...environmentOf(row, settings, addresses),
    TIME_SCALE: String(timeScale),
    CACHE_SECONDS: String(CACHE_SECONDS),
    LOCAL_PEERS: ['127.0.0.1', 'localhost', ...webhookHosts].join(','),
    METRICS_DISABLED: 'true',
    AWS_LAMBDA_LOG_LEVEL: process.env.AWS_LAMBDA_LOG_LEVEL ?? 'ERROR',
  }
}

export const endpointVariables = ({ dynamoDb, sqs, s3 }: Endpoints): Record<string, string> => ({
  ...(dynamoDb && { AWS_ENDPOINT_URL_DYNAMODB: dynamoDb }),
  ...(sqs && { AWS_ENDPOINT_URL_SQS: sqs }),
  ...(s3 && { AWS_ENDPOINT_URL_S3: s3 }),
})

/** Returns the variables that Lambda sets. The session token is the function's name. */
export const lambdaVariables = ({
  name,
  memoryMegabytes,
}: FunctionRow): Record<string, string> => ({
  _HANDLER: 'index.handler',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_LAMBDA_FUNCTION_NAME: name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID ?? '',
  AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY ?? '',
  AWS_SESSION_TOKEN: name,
  LANG: 'en_US.UTF-8',
  TZ: ':UTC',
})
