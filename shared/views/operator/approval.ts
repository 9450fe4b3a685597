import type { Shows } from '../../domain/complete.ts'
import { formatAmount } from '../../domain/money.ts'
import { type Approval, type CallObject, statusAt } from '../../domain/operator/approval.ts'
import type { BulkScope } from '../../domain/operator/bulk.ts'

export type ApprovalResult = ReturnType<typeof approvalView>

export const scopeView = ({ bulk, totals, digest }: BulkScope) => ({ ...totals, digest, bulk })

export const objectView = (object: CallObject) =>
  ({
    amount: object.amount === undefined ? null : formatAmount(object.amount),
    provider: object.provider ?? null,
    bank: object.bank ?? null,
    account: object.account ?? null,
    uuid: object.uuid ?? null,
  }) satisfies Shows<CallObject>

export const approvalView = (approval: Approval, at: Date) =>
  ({
    id: approval.id,
    status: statusAt(approval, at),
    noun: approval.noun,
    verb: approval.verb,
    target: approval.target,
    options: approval.options,
    object: approval.object ? objectView(approval.object) : null,
    scope: approval.scope ? scopeView(approval.scope) : null,
    requested_by: approval.requestedBy,
    requested_at: approval.requestedAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
    decided_by: approval.decidedBy ?? null,
    decided_at: approval.decidedAt?.toISOString() ?? null,
    reason: approval.reason ?? null,
    done_at: approval.doneAt?.toISOString() ?? null,
    refusal: approval.refusal ?? null,
  }) satisfies Shows<Approval, 'secrets' | 'decision' | 'customer'>
