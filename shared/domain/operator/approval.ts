import * as v from 'valibot'
import { type BankIdentifier, maskAccount } from '../banks/bank.ts'
import { defined } from '../complete.ts'
import type { Uuid } from '../ids.ts'
import type { Pesewas } from '../money.ts'
import type { ProviderId, SettlementAccount } from '../providers/provider.ts'
import { Refusal } from '../refusal.ts'
import { DAY_SECONDS, secondsAfter } from '../time.ts'
import type { BulkScope } from './bulk.ts'

/** Calls of operators that a second operator must approve (docs/api.md#approvals). */

/** The time of the request and eight random digits: ids sort by time. */
export const ApprovalId = v.pipe(
  v.string(),
  v.regex(/^[0-9]{8}T[0-9]{9}Z-[0-9a-f]{8}$/, 'must be an id like 20261122T044107123Z-3f2a9c1e'),
  v.brand('ApprovalId'),
)
export type ApprovalId = v.InferOutput<typeof ApprovalId>

/** @param random at least eight hexadecimal digits */
export const approvalId = (at: Date, random: string): ApprovalId =>
  v.parse(ApprovalId, `${at.toISOString().replaceAll(/[-:.]/g, '')}-${random.slice(0, 8)}`)

export const expiryOf = (requestedAt: Date): Date => secondsAfter(requestedAt, DAY_SECONDS)

/** Returns the least id of a time. */
export const firstIdAt = (at: Date): ApprovalId => approvalId(at, '00000000')

/** Returns the least id of a request that has not expired. */
export const firstPendingId = (at: Date): ApprovalId => firstIdAt(secondsAfter(at, -DAY_SECONDS))

export const approvalStatuses = ['pending', 'granted', 'denied', 'expired'] as const
type ApprovalStatus = (typeof approvalStatuses)[number]

/** The decision of an operator about a request. */
export type ApprovalDecision = Exclude<ApprovalStatus, 'pending' | 'expired'>

/** The money or the settings that a call is about, as the operator who approves it sees them. */
export type CallObject = {
  amount?: Pesewas
  provider?: ProviderId
  bank?: BankIdentifier
  /** The last digits of a provider's account. A request outlives the erasure of a customer, so it has none of theirs. */
  account?: string
  /** The uuid of the payout or refund in progress that the call ends: a retry has another. */
  uuid?: Uuid
}

type CallParts = {
  amount?: Pesewas | null
  provider?: ProviderId | undefined
  bank?: BankIdentifier | undefined
  /** The account that gets the money, with its bank. */
  account?: SettlementAccount | null | undefined
  uuid?: Uuid
}

export const callObject = ({ amount, provider, bank, account, uuid }: CallParts): CallObject =>
  defined({
    amount: amount ?? undefined,
    provider,
    bank: account?.bank ?? bank,
    account: account ? maskAccount(account.accountNumber) : undefined,
    uuid,
  })

export type Approval = {
  id: ApprovalId
  noun: string
  verb: string
  /** The id of the object that the call changes; the keyed hash of a phone number. */
  target: string
  /** As typed, with `-` for each secret and a keyed hash for each personal text. */
  options: Record<string, string>
  /** The keyed hash of the phone number of a customer whom the call concerns. */
  customer?: string
  /** The call's object when it was requested. A request of an earlier release has none. */
  object?: CallObject
  /** The objects of a call about many. */
  scope?: BulkScope
  /** The secrets by option, as sealed JSON. */
  secrets?: string
  decision: 'pending' | ApprovalDecision
  requestedBy: string
  requestedAt: Date
  expiresAt: Date
  decidedBy?: string
  decidedAt?: Date
  /** The reason of a denial. */
  reason?: string
  /** The time at which the granted call took effect, or ended without one. */
  doneAt?: Date
  /** The reason why the granted call was refused. */
  refusal?: string
}

/** Returns the status. A call that was not carried out in time is expired, even if granted. */
export const statusAt = ({ decision, expiresAt, doneAt }: Approval, at: Date): ApprovalStatus =>
  decision !== 'denied' && doneAt === undefined && expiresAt <= at ? 'expired' : decision

/** Reports whether the call can still run: its plain options and secrets are needed until then. */
export const canRun = (approval: Approval, at: Date): boolean =>
  approval.doneAt === undefined && ['pending', 'granted'].includes(statusAt(approval, at))

/** Returns the request with its personal options as typed. */
export const withPlain = (approval: Approval, plain: Record<string, string> = {}): Approval => {
  const [name = ''] = Object.entries(approval.options).find(([, v]) => v === approval.target) ?? []
  return {
    ...approval,
    target: plain[name] ?? approval.target,
    options: { ...approval.options, ...plain },
  }
}

/** An ARN or a local user. Other text is neither stored nor logged. */
export const ACTOR = /^[\w:/@.+=,-]{1,300}$/

/** The actor of a call without an operator. */
export const UNKNOWN_OPERATOR = 'unknown'

/** Letter case and punctuation do not make a second operator: `ALICE` and `alice/` are alice. */
const isSameOperator = (one: string, other: string): boolean => plain(one) === plain(other)

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

export const unnamed = (): Refusal =>
  new Refusal(1403, { details: 'an approval needs an operator with a known name' })

export const noSuchApproval = (): Refusal => new Refusal(1404, { details: 'no such approval' })

/** The call of a request that another worker has carried out. */
export const replyLost = (): Refusal =>
  new Refusal(1409, { details: 'the call was already made: its reply was lost' })

/** Returns why a request can no longer be decided. */
export const alreadyDecided = (approval: Approval, at: Date): Refusal => {
  const { decision, decidedBy, expiresAt } = approval
  const status = statusAt(approval, at)
  return new Refusal(1409, {
    details:
      status === 'expired'
        ? `the request expired at ${expiresAt.toISOString()}`
        : `the request was already ${decision} by ${decidedBy}`,
  })
}

/**
 * Returns why an operator may not grant a request; undefined if the operator may. The operator who
 * granted a request may repeat the grant until the call is carried out.
 */
export const refusalToGrant = (approval: Approval, by: string, at: Date): Refusal | undefined => {
  const { requestedBy, decidedBy, doneAt } = approval
  if (by === UNKNOWN_OPERATOR) return unnamed()
  if (isSameOperator(by, requestedBy)) {
    return new Refusal(1403, {
      details: 'the requester cannot grant: a second operator is required',
    })
  }
  const status = statusAt(approval, at)
  if (status === 'pending') return undefined
  if (status !== 'granted' || decidedBy !== by) return alreadyDecided(approval, at)
  return (
    doneAt && new Refusal(1409, { details: `the call was already made at ${doneAt.toISOString()}` })
  )
}
