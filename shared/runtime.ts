import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

/** What no recorded event can pin. A test passes its own; nothing else reads them. */
export type Runtime = {
  readonly now: () => Date
  readonly newId: () => string
  /** [0, 1) */
  readonly random: () => number
  readonly randomBytes: (count: number) => Uint8Array
  /** Ends early, by a throw, when the signal does. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>
}

export const real: Runtime = {
  now: () => new Date(),
  newId: randomUUID,
  random: Math.random,
  randomBytes,
  pause: (milliseconds, signal) => pause(milliseconds, undefined, signal && { signal }),
}

const required = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`Environment variable ${name} is not set`)
  return value
}

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)

/** `webhooks-high` is found under `QUEUE_URL_WEBHOOKS_HIGH`. */
export const queueUrlVariable = (queue: string): string =>
  `QUEUE_URL_${queue.toUpperCase().replaceAll('-', '_')}`

/** What a deployment decides, read when it is asked for, so that a test may set it first. */
export const environment = {
  /** Which column of the published limits holds: `production`, or `sandbox` for every other stage. */
  get limits(): 'production' | 'sandbox' {
    return process.env.STAGE === 'production' ? 'production' : 'sandbox'
  },
  /** Names what is deployed together, and tells its figures from another stage's. */
  get stage(): string {
    return process.env.STAGE ?? 'sandbox'
  },
  /** Whether banks may be played by the sandbox's own: nowhere unless a deployment says so. */
  get sandboxBank(): boolean {
    return process.env.SANDBOX_BANK === 'true'
  },
  /** Whether a second operator must approve some calls. */
  get approvals(): boolean {
    return process.env.APPROVALS === 'true'
  },
  /** Starts the names of the stage's functions. */
  get functionPrefix(): string {
    return process.env.FUNCTION_PREFIX ?? ''
  },
  get tableName(): string {
    return required('TABLE_NAME')
  },
  get referencePrefix(): string {
    return required('REFERENCE_PREFIX')
  },
  queueUrl: (queue: string): string => required(queueUrlVariable(queue)),
  /** The URL of a queue that feeds this function, whose ARN a record carries. */
  queueUrlOf: (arn: string): string => {
    const [, , , region, account, name] = arn.split(':')
    const local = process.env.AWS_ENDPOINT_URL_SQS
    return `${local ?? `https://sqs.${region}.amazonaws.com`}/${account}/${name}`
  },
  /** Divides the clocks of a debit and the sandbox bank's 30 s; 1 wherever money is real. */
  get timeScale(): number {
    return number('TIME_SCALE', 1)
  },
  /** Whether a payout begins only when the cash that banks have remitted covers it. */
  get payoutsWaitForFunding(): boolean {
    return process.env.PAYOUTS_WAIT_FOR_FUNDING === 'true'
  },
  get reportsBucket(): string {
    return required('REPORTS_BUCKET')
  },
  /** An S3 on one machine has no name of its own for each bucket. */
  get localS3(): boolean {
    return Boolean(process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL)
  },
  /** How long a warm function may trust what it read about a credential, a provider or the banks. */
  get cacheSeconds(): number {
    return number('CACHE_SECONDS', 30)
  },
  /** Only a sandbox on one machine speaks to providers and banks on it, and without TLS. */
  get localPeers(): boolean {
    return process.env.LOCAL_PEERS === 'true'
  },
  /** Hosts of this service (`api.example.com,api.example.com:8443`), where no webhook may go. */
  get ownHosts(): string[] {
    return (process.env.OWN_HOSTS ?? '')
      .split(',')
      .map((host) => host.trim().toLowerCase())
      .filter(Boolean)
  },
  /** The text that providers' and banks' secrets are sealed under, or the secret that holds it. */
  get sealingKey(): { fixed?: string; secretArn: string } {
    const fixed = process.env.SEALING_KEY
    return fixed ? { fixed, secretArn: '' } : { secretArn: required('SEALING_KEY_ARN') }
  },
  get schedules(): { group: string; roleArn: string; targetArn: string } {
    return {
      group: required('SCHEDULE_GROUP'),
      roleArn: required('SCHEDULE_ROLE_ARN'),
      targetArn: required('SCHEDULE_TARGET_ARN'),
    }
  },
}
