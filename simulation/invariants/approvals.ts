import type { Change } from '../../aws/table/change.ts'
import type { ApiCall, Observations } from '../engine/observations.ts'
import type { Check } from './invariant.ts'
import { kindOf, type RawBatch, type RawDebit, type RawRefund } from './raw-items.ts'
import { membersOf } from './reply.ts'

/** 46: with approvals, a guarded call takes effect only after a second operator approved it. */

type Approved = { noun: string; verb: string; target: string; grantedAt: number }

const optionsIn = (sent: unknown) => membersOf(membersOf(sent).options)

const requestIn = ({ reply }: ApiCall) =>
  membersOf(membersOf(membersOf(reply?.body).result).approval)

/** Returns the requests that another operator granted. */
const approvedIn = ({ calls }: Observations): Approved[] => {
  const requests = new Map<unknown, { request: ReturnType<typeof requestIn>; call: ApiCall }>()
  for (const call of calls) {
    const request = requestIn(call)
    if (request.id !== undefined) requests.set(request.id, { request, call })
  }
  return calls.flatMap((grant) => {
    const { verb, actor } = membersOf(grant.sent)
    if (grant.name !== 'manage-approval' || verb !== 'grant') return []
    const known = requests.get(optionsIn(grant.sent).id)
    if (!known || actor === undefined || membersOf(known.call.sent).actor === actor) return []
    const { sent, name } = known.call
    const [target = ''] = Object.values(optionsIn(sent))
    const noun = name.replace('manage-', '')
    return [
      { noun, verb: String(membersOf(sent).verb), target: String(target), grantedAt: grant.at },
    ]
  })
}

type Guarded = { noun: string; verb: string; target: string }

const debitEffect = (before: RawDebit | undefined, after: RawDebit): Guarded | undefined => {
  if (before?.status === after.status) return undefined
  const entry = after.history.at(-1)
  if (!entry?.by?.startsWith('operator:')) return undefined
  const verbs: Record<string, string> = {
    reversed: 'reverse',
    completed: 'complete',
    failed: 'fail',
  }
  return { noun: 'debit', verb: verbs[after.status] ?? after.status, target: after.reference }
}

const accountOf = (item: Change['after']): string => JSON.stringify(item?.settlementAccount ?? null)

/** Returns the guarded call that a change must come from. */
const effectOf = ({ before, after }: Change): Guarded | undefined => {
  if (!before || !after) return undefined
  switch (kindOf(after)) {
    case 'debit':
      return debitEffect(before as RawDebit, after as RawDebit)
    case 'batch': {
      const { id, uuid } = after as RawBatch
      return uuid === before.uuid ? undefined : { noun: 'settlement', verb: 'retry', target: id }
    }
    case 'refund': {
      const { uuid, reference } = after as RawRefund
      return uuid === before.uuid
        ? undefined
        : { noun: 'exception', verb: 'refund', target: reference }
    }
    default:
      if (after.entity !== 'provider' || accountOf(before) === accountOf(after)) return undefined
      return { noun: 'provider', verb: 'update', target: String(after.id) }
  }
}

/** The refund of a late completion has no earlier image. */
const openedRefund = ({ before, after }: Change): Guarded | undefined => {
  if (before || !after || kindOf(after) !== 'refund' || after.origin === 'reversal')
    return undefined
  return { noun: 'exception', verb: 'refund', target: (after as RawRefund).reference }
}

export const guardedCallsAreApproved: Check = ({ observations }, report) => {
  if (!observations.setup.approvals) return
  const approved = Map.groupBy(approvedIn(observations), ({ target }) => target)
  for (const change of observations.changes) {
    const effect = change.by && (effectOf(change) ?? openedRefund(change))
    if (!effect) continue
    const isApproved = (approved.get(effect.target) ?? []).some(
      ({ noun, verb, grantedAt }) =>
        noun === effect.noun && verb === effect.verb && grantedAt <= change.at,
    )
    if (!isApproved) {
      report(effect.target, `${effect.noun} ${effect.verb} took effect without an approval`)
    }
  }
}
