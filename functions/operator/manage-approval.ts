import * as domain from '../../shared/domain/operator/approval.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { decide, viewsOf } from '../../shared/operator/approvals.ts'
import { type Author, ListPage, operatorHandler } from '../../shared/operator/handler.ts'
import { invokeNoun } from '../../shared/operator/invoke.ts'
import { approval as noun } from '../../shared/operator/nouns/operators.ts'
import { pageOf } from '../../shared/operator/pages.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { approvalPages, findApproval } from '../../shared/store/operator/approvals.ts'
import { approvalView } from '../../shared/views/operator/approval.ts'

/** Grants a request. Returns a request that this operator has granted before unchanged. */
const grant = async (
  id: domain.ApprovalId,
  author: Author,
  runtime: Runtime,
): Promise<domain.Approval | Refusal> => {
  const approval = await findApproval(id)
  if (!approval) return domain.noSuchApproval()
  const refusal = domain.refusalToGrant(approval, author.by, author.at)
  if (refusal) return refusal
  if (approval.decision === 'granted') return approval
  const isFirst = await decide(approval, { decision: 'granted' }, author, runtime)
  // Another operator, or a concurrent call, decided first: read its decision.
  return isFirst ? approval : grant(id, author, runtime)
}

/** Ids begin with a day without separators. */
const idText = (key: string): string => key.replace(/^(\d{4})-(\d\d)-(\d\d)$/, '$1$2$3')

export const manageApproval = operatorHandler(noun, {
  list: async (options, { at }, runtime) => {
    const { status } = options
    // Requests never leave the table, so the list of those that wait skips earlier ones.
    const first = status === 'pending' ? domain.firstPendingId(at) : ''
    const page = await pageOf('approval list', options, runtime, {
      read: (span) => {
        const [from, before] = [idText(span.from), idText(span.before)]
        const start = from > first ? from : first
        return approvalPages({ from: start < before ? start : before, before })
      },
      keyOf: ({ id }) => id,
      viewOf: (approval) =>
        !status || domain.statusAt(approval, at) === status ? approval : undefined,
    })
    if (page instanceof Refusal) return page
    return new ListPage(await viewsOf(page.result, at), page.next_cursor)
  },
  show: async ({ id }, { at }) => {
    const approval = await findApproval(id)
    const [view] = approval ? await viewsOf([approval], at) : []
    return view ?? domain.noSuchApproval()
  },
  /** A repeat after a crash runs the call if it has not run yet. */
  grant: async ({ id }, author, runtime) => {
    const approval = await grant(id, author, runtime)
    if (approval instanceof Refusal) return approval
    const call = { verb: approval.verb, options: {}, actor: author.by, approval: id }
    const reply = await invokeNoun(approval.noun, call)
    return 'error' in reply ? new Refusal(1409, { details: reply.error }) : reply.result
  },
  deny: async ({ id, reason }, author, runtime) => {
    if (author.by === domain.UNKNOWN_OPERATOR) return domain.unnamed()
    const approval = await findApproval(id)
    if (!approval) return domain.noSuchApproval()
    const isDenied =
      domain.statusAt(approval, author.at) === 'pending' &&
      (await decide(approval, { decision: 'denied', reason }, author, runtime))
    const current = (await findApproval(id)) ?? approval
    return isDenied ? approvalView(current, author.at) : domain.alreadyDecided(current, author.at)
  },
})

export const handler = manageApproval(real)
