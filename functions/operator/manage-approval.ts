import {
  type Approval,
  type ApprovalId,
  alreadyDecided,
  noSuchApproval,
  refusalToGrant,
  statusAt,
  UNKNOWN_OPERATOR,
  unnamed,
} from '../../shared/domain/operator/approval.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { approvalView, decide } from '../../shared/operator/approvals.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { invokeNoun } from '../../shared/operator/invoke.ts'
import { approval as noun } from '../../shared/operator/nouns/approval.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { approvalPages, findApproval } from '../../shared/store/operator/approvals.ts'

/** Returns the request once it is granted by this operator, or why it is not. */
const granted = async (
  id: ApprovalId,
  author: Author,
  runtime: Runtime,
): Promise<Approval | Refusal> => {
  const approval = await findApproval(id)
  if (!approval) return noSuchApproval()
  const refusal = refusalToGrant(approval, author.by, author.at)
  if (refusal) return refusal
  if (approval.decision === 'granted') return approval
  const isFirst = await decide(approval, { verb: 'grant', decision: 'granted' }, author, runtime)
  // Decided by another in the meantime, or by this operator in a call at the same time.
  return isFirst ? approval : granted(id, author, runtime)
}

export const manageApproval = (runtime: Runtime) =>
  operatorHandler(
    noun,
    {
      list: async ({ status, limit }, { at }) => {
        const found: Approval[] = []
        for await (const page of approvalPages()) {
          found.push(...page.filter((one) => !status || statusAt(one, at) === status))
          if (found.length >= limit) break
        }
        return found.slice(0, limit).map((one) => approvalView(one, at))
      },
      show: async ({ id }, { at }) => {
        const found = await findApproval(id)
        return found ? approvalView(found, at) : noSuchApproval()
      },
      /** Repeated after a crash, it carries out the call if that is not done. */
      grant: async ({ id }, author) => {
        const approval = await granted(id, author, runtime)
        if (approval instanceof Refusal) return approval
        const call = { verb: approval.verb, options: {}, actor: author.by, approval: id }
        const reply = await invokeNoun(approval.noun, call)
        return 'error' in reply ? new Refusal(1409, { details: reply.error }) : reply.result
      },
      deny: async ({ id, reason }, author) => {
        if (author.by === UNKNOWN_OPERATOR) return unnamed()
        const found = await findApproval(id)
        if (!found) return noSuchApproval()
        const isPending = statusAt(found, author.at) === 'pending'
        const isDenied =
          isPending &&
          (await decide(found, { verb: 'deny', decision: 'denied', reason }, author, runtime))
        const after = (await findApproval(id)) ?? found
        return isDenied ? approvalView(after, author.at) : alreadyDecided(after, author.at)
      },
    },
    runtime,
  )

export const handler = manageApproval(real)
