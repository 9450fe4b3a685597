import type { Change } from '../../../sandbox/aws/table/change.ts'
import type { OperatorCall } from './calls.ts'
import { expectations } from './lifecycle.ts'
import type { Check } from './observation-index.ts'
import { kindOf, type RawBatch, type RawDebit, type RawRefund } from './raw-items.ts'

/** 46: with approvals, a guarded call takes effect only after a second operator approved it. */

type Guarded = {
  noun: string
  verb: unknown
  target: unknown
  /** Whether a refund of the provider's request may have caused it. */
  isRequested?: boolean
}

type Approved = Pick<OperatorCall, 'noun' | 'verb' | 'options'> & { grantedAt: number }

const approvedIn = (calls: readonly OperatorCall[]): Approved[] => {
  const requests = new Map(calls.map((call) => [call.requested, call]))
  return calls.flatMap((grant) => {
    if (grant.noun !== 'approval' || grant.verb !== 'grant') return []
    const request = requests.get(grant.options.id)
    if (!request || grant.actor === undefined || request.actor === grant.actor) return []
    const { noun, verb, options } = request
    return [{ noun, verb, options, grantedAt: grant.call.at }]
  })
}

const debitEffect = (before: RawDebit, after: RawDebit): Guarded | undefined => {
  const { status, reference: target } = after
  if (before.status === status || !after.history.at(-1)?.by?.startsWith('operator:'))
    return undefined
  const isRequested = after.reversalRequest !== undefined && status === 'reversed'
  return { noun: 'debit', verb: expectations[status].verb ?? status, target, isRequested }
}

const accountOf = (item: Change['after']): string => JSON.stringify(item?.settlementAccount ?? null)

const effectOf = ({ before, after }: Change): Guarded | undefined => {
  if (!after) return undefined
  const kind = kindOf(after)
  if (kind === 'refund') {
    const { uuid, reference: target, origin } = after as RawRefund
    const isNew = before ? uuid !== before.uuid : origin !== 'reversal'
    return isNew ? { noun: 'exception', verb: 'refund', target } : undefined
  }
  if (!before) return undefined
  if (kind === 'debit') return debitEffect(before as RawDebit, after as RawDebit)
  if (kind === 'batch') {
    const { id: target, uuid, status } = after as RawBatch
    if (uuid !== before.uuid) return { noun: 'settlement', verb: 'retry', target }
    const isRecorded = before.status === 'failed' && status === 'completed'
    return isRecorded ? { noun: 'settlement', verb: 'complete', target } : undefined
  }
  if (after.entity !== 'payee' || accountOf(before) === accountOf(after)) return undefined
  return { noun: 'provider', verb: 'update', target: String(after.pk).slice('PAYEE#'.length) }
}

export const guardedCallsAreApproved: Check = (index, report) => {
  const { observations, operatorCalls, changesBy, concerns } = index
  if (!observations.setup.approvals) return
  const approved = Map.groupBy(approvedIn(operatorCalls), ({ noun, verb }) => `${noun} ${verb}`)
  for (const change of observations.changes) {
    const effect = change.by && effectOf(change)
    if (!effect) continue
    const { noun, verb, target, isRequested } = effect
    const isAbout = (one: Approved): boolean =>
      one.noun === 'exception'
        ? concerns(one, String(target))
        : Object.values(one.options)[0] === target
    const isApproved = [`${noun} ${verb}`, ...(isRequested ? ['exception refund'] : [])]
      .flatMap((call) => approved.get(call) ?? [])
      .some((one) => one.grantedAt <= change.at && isAbout(one))
    if (!isApproved) report(String(target), `${noun} ${verb} took effect without an approval`)
  }
  for (const { call, approval, noun, verb, options } of operatorCalls) {
    const isOne = noun !== 'exception' || options.reference !== undefined || verb === 'upload'
    const changes = isOne || approval !== undefined ? [] : (changesBy.get(call.invocation) ?? [])
    if (changes.some(({ after }) => after?.entity === 'change' && after.noun === 'exception'))
      report(String(verb), 'about many debits took effect without an approval')
  }
}
