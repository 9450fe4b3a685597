import { environmentOf } from '../infra/definitions/environment.ts'
import type { FunctionRow } from '../infra/definitions/functions.ts'
import type { QueueName } from '../shared/queues/messages.ts'
import { queueArn, queueUrl } from './aws/queues.ts'
import { errorGuideAt } from './sandbox-reply.ts'

/** The environment variables of the functions. */

export const REGION = 'eu-west-1'
export const NAME = 'debit-collection'
export const REPORTS_BUCKET = `${NAME}-reports`
const AUDIT_BUCKET = `${NAME}-audit`
const ACCOUNT = '000000000000'
/** Disables caches: changes take effect at once, and functions in one process would share a cache. */
const CACHE_SECONDS = 0

type Settings = {
  timeScale: number
  approvals: boolean
  webhookHosts?: readonly string[] | undefined
  /** The host of the API. */
  host: string
  /** The endpoint of the queues, for functions in other processes. */
  awsEndpoint?: string | undefined
}

/** The SDK's clients require credentials, which nobody checks. */
export const useLocalCredentials = (): void => {
  process.env.AWS_REGION = REGION
  process.env.AWS_ACCESS_KEY_ID ??= 'sandbox'
  process.env.AWS_SECRET_ACCESS_KEY ??= 'sandbox'
}

/** Returns the variables of a stack, and those that only a sandbox sets. */
export const functionVariables = (
  row: FunctionRow,
  { timeScale, approvals, webhookHosts = [], host, awsEndpoint }: Settings,
): Record<string, string> => {
  const settings = {
    stage: 'sandbox',
    limits: 'sandbox' as const,
    referencePrefix: 'DCS',
    hasSandboxBank: true,
    payoutsWaitForFunding: false,
    approvals,
    claimedOperators: true as const,
    ownHosts: [host, host.replace(/^[^:]+/, 'localhost')],
    errorGuide: errorGuideAt(host),
  }
  const addresses = {
    tableName: NAME,
    queueUrl: (queue: QueueName) => queueUrl(queue, awsEndpoint),
    queueArn,
    scheduleGroup: NAME,
    scheduleRoleArn: `arn:aws:iam::${ACCOUNT}:role/scheduler`,
    sealingKeyArn: `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:sealing-key`,
    reportsBucket: REPORTS_BUCKET,
    auditBucket: AUDIT_BUCKET,
    functionPrefix: '',
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
