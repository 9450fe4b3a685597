import { randomBytes, randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { clearTimeout, setTimeout as startTimer } from 'node:timers'
import { setTimeout } from 'node:timers/promises'

/** The sources of non-determinism. Tests and the simulator pass their own. */
export type Runtime = {
  readonly now: () => Date
  /** The time of this machine, for signatures, rate limits and durations; a sandbox can move `now`. */
  readonly wallTime: () => Date
  readonly newId: () => string
  /** [0, 1) */
  readonly random: () => number
  readonly randomBytes: (count: number) => Uint8Array
  /** Rejects when the signal aborts. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>
}

/** The source of the jitter of retries, and their pauses. */
export type Jitter = Pick<Runtime, 'random' | 'pause'>

/** Returns a function that reports whether this time has passed since `from`, usually the call. */
export const timeLimit = (
  { now }: Pick<Runtime, 'now'>,
  milliseconds: number,
  from = now(),
): (() => boolean) => {
  const end = from.getTime() + milliseconds
  return () => now().getTime() >= end
}

/** Waits. The client of the table uses it directly, as the SDK does for its own retries. */
export const pause: Runtime['pause'] = (milliseconds, signal) =>
  setTimeout(milliseconds, undefined, signal && { signal })

export type PhaseTimer = {
  /** Starts a phase of at most so many milliseconds; by default, of the rest of the whole time. */
  startPhase: (milliseconds?: number) => void
  stop: () => void
}

/** Returns one timer for the phases of some work. It calls back at the limit of a phase or of the whole. */
export const phaseTimer = (milliseconds: number, onEnd: () => void): PhaseTimer => {
  const end = performance.now() + milliseconds
  let limit = end
  let timer: { ref: NodeJS.Timeout; at: number } | undefined
  const start = (now: number) => {
    timer = { ref: startTimer(fire, Math.ceil(limit - now)), at: limit }
  }
  const fire = () => {
    const now = performance.now()
    if (now < limit) start(now)
    else onEnd()
  }
  const stop = () => clearTimeout(timer?.ref)
  return {
    startPhase: (milliseconds = Number.POSITIVE_INFINITY) => {
      const now = performance.now()
      limit = Math.min(now + milliseconds, end)
      // A timer that is too early continues when it fires.
      if (timer && timer.at <= limit) return
      stop()
      start(now)
    },
    stop,
  }
}
/** Returns the real time. Log lines and metrics use it directly. */
export const wallTime = (): Date => new Date()

export const real: Runtime = {
  now: wallTime,
  wallTime,
  newId: randomUUID,
  random: Math.random,
  randomBytes,
  pause,
}

const required = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`Environment variable ${name} is not set`)
  return value
}

const hosts = (name: string): string[] =>
  (process.env[name] ?? '')
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter(Boolean)

const optionalNumber = (name: string): number | undefined =>
  process.env[name] ? Number(process.env[name]) : undefined

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise)

/** Returns the variable that holds the URL of a queue, such as `QUEUE_URL_WEBHOOKS_HIGH`. */
export const queueUrlVariable = (queue: string): string =>
  `QUEUE_URL_${queue.toUpperCase().replaceAll(/\W/g, '_')}`

/** Reports whether a function sends to a queue, which a stage may lack. */
export const hasQueue = (queue: string): boolean =>
  process.env[queueUrlVariable(queue)] !== undefined

export const queueUrlOf = (queue: string): string => required(queueUrlVariable(queue))

/** Returns the URL of a queue from the ARN in its records. */
export const queueUrlFrom = (arn: string): string => {
  const [, partition, , region, account, name] = arn.split(':')
  const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_SQS = AWS_ENDPOINT_URL } = process.env
  const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `${AWS_ENDPOINT_URL_SQS ?? `https://sqs.${region}.${domain}`}/${account}/${name}`
}

const isTrue = (name: string): boolean => process.env[name] === 'true'

/** The settings of a deployment. */
const settings = {
  stage: () => process.env.STAGE ?? 'sandbox',
  /** Selects the published limits, and the rules for tokens and future days. */
  limits: () => (required('LIMITS') === 'production' ? 'production' : 'sandbox'),
  /** The least level that is logged. Lambda sets it from the function's logging configuration. */
  logLevel: () => process.env.AWS_LAMBDA_LOG_LEVEL ?? 'INFO',
  metricsDisabled: () => isTrue('METRICS_DISABLED'),
  sandboxBank: () => isTrue('SANDBOX_BANK'),
  requiresApprovals: () => isTrue('APPROVALS'),
  /** Whether direct invocations name their operator, in stages without data of value. */
  claimedOperators: () => isTrue('CLAIMED_OPERATORS'),
  /** Whether a payout waits until the remitted cash covers it. */
  payoutsWaitForFunding: () => isTrue('PAYOUTS_WAIT_FOR_FUNDING'),
  /** The default cap on approval prompts (docs/api.md#approval-prompts); undefined: no cap. */
  defaultPromptsMax: () => optionalNumber('OPEN_PROMPTS_MAX'),
  /** The age in days from which the customer of a debit may be erased. */
  eraseAfterDays: () => number('ERASE_AFTER_DAYS', 0),
  /** The years for which ended debits stay in the table; undefined: for ever. */
  retainYears: () => optionalNumber('RETAIN_YEARS'),
  /** The groups of a provider's messages in `feeds.fifo`. */
  feedGroups: () => number('FEED_GROUPS', 1),
  /** Address of the published error guide (docs/errors.md), for `error.doc_url`. */
  errorGuide: () => process.env.ERROR_GUIDE,
  functionPrefix: () => process.env.FUNCTION_PREFIX ?? '',
  tableName: () => required('TABLE_NAME'),
  referencePrefix: () => required('REFERENCE_PREFIX'),
  reportsBucket: () => required('REPORTS_BUCKET'),
  auditBucket: () => required('AUDIT_BUCKET'),
  /** A local S3 has no host name for each bucket. */
  localS3: () => Boolean(process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL),
  /** Divides the timeouts of a debit and the 30 s of the sandbox bank; 1 in production. */
  timeScale: () => number('TIME_SCALE', 1),
  /** Seconds for which a warm function caches credentials, providers and banks. */
  cacheSeconds: () => number('CACHE_SECONDS', 30),
  /** Hosts of providers and banks that may be private and without TLS; for a local sandbox. */
  localPeers: () => hosts('LOCAL_PEERS'),
  /** Hosts of this service (`api.example.com,api.example.com:8443`), forbidden in webhook URLs. */
  ownHosts: () => hosts('OWN_HOSTS'),
  /** The text of the sealing key, or the ARN of the secret that holds it. */
  sealingKey: (): { fixed?: string; secretArn: string } => {
    const fixed = process.env.SEALING_KEY
    return fixed ? { fixed, secretArn: '' } : { secretArn: required('SEALING_KEY_ARN') }
  },
  /** ARN of the secret with the client certificate for banks. */
  bankClientCertificateArn: () => process.env.BANK_CLIENT_CERTIFICATE_ARN,
  schedules: () => ({
    group: required('SCHEDULE_GROUP'),
    roleArn: required('SCHEDULE_ROLE_ARN'),
    targetArn: required('SCHEDULE_TARGET_ARN'),
  }),
} as const

type Environment = { readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]> }

/** Lambda's variables never change in a process. Elsewhere each read is fresh: tests change them. */
const isConstant = process.env.AWS_LAMBDA_FUNCTION_NAME !== undefined

const once = <T>(get: () => T): (() => T) => {
  let read: { value: T } | undefined
  return () => {
    read ??= { value: get() }
    return read.value
  }
}

export const environment = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries<() => unknown>(settings).map(([name, get]) => [
      name,
      { get: isConstant ? once(get) : get },
    ]),
  ),
) as Environment
