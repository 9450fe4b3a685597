import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { OperationName } from '../../shared/api/operations.ts'

/** The environments that can be deployed, and in what they differ. */
export type Stage = {
  /** Names stacks and functions; `production` has the published limits of production. */
  name: string
  /** Starts every reference. */
  referencePrefix: string
  /** What the gateway lets through to one method, whoever asks: before any function, any count. */
  throttle: { perSecond: number; burst: number }
  hasFirewall: boolean
  /** Requests per minute of one address at the firewall; absent: twice the published limits. */
  addressLimit?: number
  /** The name that the API has, instead of the gateway's own. */
  domain?: Domain
  /** Workers kept for each function behind the gateway, which no burst of jobs can take. */
  reserved?: { each: number } & Partial<Record<OperationName, number>>
  /** No queue has more workers than these, whatever its job allows. */
  workersMax?: number
  /** Whether the sandbox's bank may play one here. */
  hasSandboxBank: boolean
  /** Whether a payout begins only when the cash that banks have remitted covers it. */
  payoutsWaitForFunding: boolean
  /** Whether a second operator must approve calls that can move money elsewhere (docs/operations.md). */
  approvals: boolean
  /** Whether CloudTrail records each invocation of an operator's function. */
  recordsInvocations: boolean
  /** Whether data outlives its stack, and the table cannot be deleted by hand. */
  keepsData: boolean
  /**
   * No work starts by itself: no queue, stream or schedule reaches a function, and every
   * request is answered 503/1503. Operators still reach theirs (docs/operations.md, Restore).
   */
  paused?: boolean
  /** A table that was made from a backup and takes the place of the one before (docs/operations.md). */
  restoredTable?: RestoredTable
  logRetention: RetentionDays
  /** Where alarms are mailed to. */
  alarmsTo?: string
}

export type RestoredTable = {
  name: string
  /** The end of its stream's ARN: `2026-11-21T10:05:00.000`. */
  streamLabel: string
}

export type Domain = {
  /** `api.example.com` */
  name: string
  /** Of AWS Certificate Manager, in the Region of the stack. */
  certificateArn: string
  /** Where the name is entered; absent: somebody enters it elsewhere. */
  zone?: { id: string; name: string }
}

const stages: Record<string, Omit<Stage, 'name'>> = {
  sandbox: {
    referencePrefix: 'DCS',
    throttle: { perSecond: 100, burst: 200 },
    hasFirewall: true,
    // Nothing reserved: a new account may have no more than ten workers in all.
    workersMax: 5,
    hasSandboxBank: true,
    payoutsWaitForFunding: false,
    approvals: false,
    recordsInvocations: false,
    keepsData: false,
    logRetention: RetentionDays.ONE_MONTH,
  },
  production: {
    referencePrefix: 'DCP',
    throttle: { perSecond: 1_000, burst: 2_000 },
    hasFirewall: true,
    // With what the jobs may take, within the 1,000 workers of an account.
    reserved: {
      each: 15,
      charge: 200,
      'get-debit-request': 100,
      'update-debit-transaction': 30,
      'debit-callback': 50,
    },
    hasSandboxBank: false,
    payoutsWaitForFunding: false,
    approvals: true,
    recordsInvocations: true,
    keepsData: true,
    logRetention: RetentionDays.ONE_YEAR,
  },
}

/**
 * Returns a stage by its name.
 * @param paused `true` or `false` as text: from the command, so that nobody edits this file in haste
 * @throws UnknownStage in one line
 */
export const stageNamed = (name: unknown, paused: unknown = 'false'): Stage => {
  const found = typeof name === 'string' && Object.hasOwn(stages, name) ? stages[name] : undefined
  if (!found || typeof name !== 'string') {
    throw new UnknownStage(`A stage is required: -c stage=${stageNames.join('|')}`)
  }
  const isPaused = String(paused) === 'true'
  if (!isPaused && String(paused) !== 'false') {
    throw new UnknownStage('-c paused must be true or false')
  }
  return { name, ...found, ...(isPaused ? { paused: true } : {}) }
}

export class UnknownStage extends Error {}

export const stageNames = Object.keys(stages)
