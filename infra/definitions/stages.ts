import { RemovalPolicy } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { OperationName } from '../../shared/api/operations.ts'
import type { StageWorkers } from './jobs.ts'

export type Stage = CommonSettings & DataSettings

/** A stage that keeps its data accepts no operator that AWS has not verified. */
type DataSettings =
  // Data outlives its stack, and the table is protected from deletion.
  | {
      keepsData: true
      limits: 'production'
      backup: StageBackup
      /** Years in which S3 keeps the sealed audit and the trail of operators, even from administrators. */
      auditYears: number
      claimedOperators?: never
    }
  | {
      keepsData: false
      /** Published limits and rules; those of a sandbox admit chosen tokens and future days. */
      limits: 'production' | 'sandbox'
      backup?: StageBackup
      auditYears?: never
      /** Whether direct invocations name their operator: LocalStack verifies no caller. */
      claimedOperators?: true
    }

type CommonSettings = StageWorkers & {
  /** Part of the names of stacks and functions. */
  name: string
  /** The account and Region to deploy to; without them, those of the shell's credentials. */
  account?: string
  region?: string
  /** Tags of all stacks and their resources, for costs and ownership. */
  tags: Record<string, string>
  /** First part of every reference (docs/api.md#ids); a deployed stage keeps it. */
  referencePrefix: string
  /** Requests that the gateway admits to one method, from all callers. */
  throttle: { perSecond: number; burst: number }
  hasFirewall: boolean
  /** Requests per minute and address at the firewall; default: twice the published limits. */
  addressLimit?: number
  domain?: Domain
  /** Concurrency that is reserved for each function behind the gateway. */
  reserved?: { each: number } & Partial<Record<OperationName, number>>
  /** The account's quota of concurrent executions, for its alarm; 1,000 by default. */
  concurrencyQuota?: number
  hasSandboxBank: boolean
  /** The default cap on approval prompts of a customer (docs/api.md#approval-prompts); absent: none. */
  openPromptsMax?: number
  /** The age in days from which an erasure removes the customer of a debit; absent: at once. */
  eraseAfterDays?: number
  /** The years for which ended debits and their records stay in the table; absent: for ever. */
  retainYears?: number
  /** Whether a payout waits until remitted cash covers it (docs/api.md#payouts). */
  payoutsWaitForFunding: boolean
  /** Whether a second operator must approve calls that can redirect money (docs/api.md#approvals). */
  approvals: boolean
  /** Whether CloudTrail records each invocation of an operator's function, and changes of resources. */
  recordsInvocations: boolean
  /** Nightly exports of the table for queries and copies (docs/restore.md#lake). */
  lake?: Lake
  /** A network with fixed addresses for calls to banks and receivers. */
  network?: StageNetwork
  /** A client certificate for calls to banks. */
  bankClientCertificate?: SecretReference
  /** Disables event sources and schedules, and answers every request with 503/1503. */
  paused?: boolean
  /** Paused because the other Region works: set by `passive.isActive` and `-c passive=true` only. */
  waits?: true
  /**
   * Whether functions switch to new versions at once, without a canary. CodeDeploy refuses a rollout
   * while one of its alarms rings, and a paused stage must not use two tables at the same time.
   */
  switchesAtOnce?: boolean
  /** Table that replaces the stack's own after a restore; `isOnly`: the stack no longer has its own (docs/restore.md). */
  restoredTable?: RestoredTable & { isOnly?: true }
  /** A second Region, whose stacks wait for a failover (docs/restore.md#passive-region). */
  passive?: PassiveRegion
  /** The stacks are those of the passive Region: set by `-c passive=true` only. */
  replicaOf?: { region: string } & Partial<Replica>
  logRetention: RetentionDays
  /** E-mail or https addresses; app and smoke test require them if the stage keeps data. */
  alarmsTo?: { pages: string; tickets: string }
  /** Hosts of providers and banks that functions may reach at private addresses and without TLS. */
  privatePeers?: readonly string[]
  /** Address of the published page docs/errors.md, for `error.doc_url` (docs/api.md#errors). */
  errorGuide?: string
}

/** The days for which exports stay, at least 35: a month's full export, and the changes since. */
export type Lake = { keepDays: number }

/** Daily backups of table and reports in a locked vault (docs/restore.md#backups), or why there are none. */
export type StageBackup = Backup | { declined: string }

export type Backup = {
  keepDays: number
  /** Days in which the lock prevents the deletion of a backup; an administrator can remove the lock. */
  lockDays: number
  /** ARN of a vault in another account or Region, which gets a copy of each daily backup; requires `region`. */
  copyTo?: string
}

export type PassiveRegion = {
  region: string
  /** Certificates, secrets and networks belong to a Region. */
  settings?: Pick<
    CommonSettings,
    'domain' | 'bankClientCertificate' | 'network' | 'concurrencyQuota'
  >
  /** The replicas of the active Region, once they exist. */
  replica?: Replica
  /** After a failover: this Region works, and the stage's own one waits. */
  isActive?: true
}

type Replica = { table: RestoredTable; sealingKeyArn: string }

export type RestoredTable = {
  name: string
  /** Last part of the stream's ARN, such as `2026-11-21T10:05:00.000`. */
  streamLabel: string
}

/** Settings of docs/deployment.md#egress-and-client-certificates. */
export type StageNetwork = { cidr: string; zones: number }

export type SecretReference = {
  /** The complete ARN, with the random characters at its end. */
  secretArn: string
  /** The customer-managed key of the secret, if it has one. */
  keyArn?: string
}

/** Settings of docs/deployment.md#domain; `isOnly`: the gateway's own address is closed. */
export type Domain = {
  name: string
  isOnly?: true
  /** Certificate of AWS Certificate Manager in the Region of the stack. */
  certificateArn: string
  /** Hosted zone for the DNS records; without it, DNS is configured elsewhere. */
  zone?: { id: string; name: string }
}

const stages: Record<string, Omit<CommonSettings, 'name'> & DataSettings> = {
  sandbox: {
    tags: { 'cost-center': 'collections-test', owner: 'collections' },
    referencePrefix: 'DCS',
    throttle: { perSecond: 100, burst: 200 },
    hasFirewall: true,
    // No reserved concurrency: the quota of a new account may be ten.
    workersMax: 5,
    hasSandboxBank: true,
    payoutsWaitForFunding: false,
    approvals: false,
    recordsInvocations: false,
    keepsData: false,
    limits: 'sandbox',
    logRetention: RetentionDays.ONE_MONTH,
  },
  production: {
    tags: { 'cost-center': 'collections', owner: 'collections' },
    referencePrefix: 'DCP',
    throttle: { perSecond: 2_000, burst: 4_000 },
    hasFirewall: true,
    // With the workers of all jobs less than 1,000, the default quota of an account.
    reserved: {
      each: 8,
      charge: 100,
      'get-debit-request': 50,
      'update-debit-transaction': 40,
      'debit-callback': 40,
    },
    hasSandboxBank: false,
    openPromptsMax: 5,
    // The six years of the anti-money-laundering act, until the operator's lawyer sets less.
    eraseAfterDays: 2_190,
    retainYears: 7,
    payoutsWaitForFunding: true,
    approvals: true,
    recordsInvocations: true,
    keepsData: true,
    limits: 'production',
    auditYears: 7,
    // Add `copyTo` for the loss of the Region or the account.
    backup: { keepDays: 35, lockDays: 30 },
    logRetention: RetentionDays.ONE_YEAR,
  },
}

type StageContext = { paused?: unknown; canary?: unknown; passive?: unknown }

const inPassiveRegion = (stage: Stage): Stage => {
  const { passive, domain, bankClientCertificate, network, lake, restoredTable, ...others } = stage
  if (!passive) throw new InvalidStage(`Stage ${stage.name} has no passive Region`)
  const { region, settings, replica } = passive
  return {
    ...others,
    ...{ region, ...settings, replicaOf: { region: stage.region ?? '', ...replica } },
  } as Stage
}

/** Certificates, secrets and addresses that a failover needs at once. */
const regional = ['domain', 'bankClientCertificate', 'network'] as const

/** @throws InvalidStage if a stage lacks a setting that its passive Region needs */
const checkPassive = (stage: Stage): void => {
  const { name, account, region, keepsData, passive } = stage
  if (!passive) return
  if (!(account && region && keepsData))
    throw new InvalidStage(`Stage ${name}: passive requires account, region and keepsData`)
  if (passive.region === region)
    throw new InvalidStage(`Stage ${name}: passive.region must be another Region`)
  const missing = passive.replica && regional.find((one) => stage[one] && !passive.settings?.[one])
  if (missing) throw new InvalidStage(`Stage ${name}: passive.settings lacks ${missing}`)
}

/** @throws InvalidStage for another name, or if a context is neither `true` nor `false` */
export const stageNamed = (name: unknown, context: StageContext = {}): Stage => {
  const stage = typeof name === 'string' && Object.hasOwn(stages, name) ? stages[name] : undefined
  if (!stage || typeof name !== 'string') {
    throw new InvalidStage(`A stage is required: -c stage=${stageNames.join('|')}`)
  }
  return stageIn({ name, ...stage }, context)
}

/** Returns a stage as the context asks for it. */
export const stageIn = (stage: Stage, context: StageContext): Stage => {
  checkPassive(stage)
  const isPassive = isTrue('passive', context.passive ?? false)
  const waits = stage.passive !== undefined && isPassive !== (stage.passive.isActive ?? false)
  const paused = isTrue('paused', context.paused ?? waits)
  // Conditional claims hold within a Region: two active ones would accept the same reference twice.
  if (waits && !paused)
    throw new InvalidStage(`Stage ${stage.name}: only the Region that passive.isActive names works`)
  const hasCanary = isTrue('canary', context.canary ?? true)
  return {
    ...(isPassive ? inPassiveRegion(stage) : stage),
    ...(waits && { waits }),
    ...(paused && { paused }),
    ...((paused || !hasCanary) && { switchesAtOnce: true }),
  }
}

const isTrue = (name: string, value: unknown): boolean => {
  const text = String(value)
  if (text !== 'true' && text !== 'false')
    throw new InvalidStage(`-c ${name} must be true or false`)
  return text === 'true'
}

/** Reports an invalid stage, account, Region or quota before the deployment, in one line. */
export class InvalidStage extends Error {}

/** Returns the policy for data and logs. CloudFormation always deletes resources of a failed creation. */
export const removalPolicyOf = ({ keepsData }: Pick<Stage, 'keepsData'>): RemovalPolicy =>
  keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY

export const stageNames = Object.keys(stages)
