import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../../sandbox/aws/table/change.ts'
import { grantedIn, type OperatorCall } from './calls.ts'
import { isRecord } from './decisions.ts'
import { expectations } from './lifecycle.ts'
import * as raw from './raw-items.ts'
import type { Check, Checks } from './rules.ts'

/** 46: the calls that a second operator must approve. */

type Guarded = {
  noun: string
  verb: unknown
  target: unknown
  /** Whether a refund of the provider's request may have caused it. */
  isRequested?: boolean
}

/** The members of settings that take effect only by a guarded call. */
const GUARDED: Record<string, { noun: string; verb: string; members: readonly string[] }> = {
  payee: { noun: 'provider', verb: 'update', members: ['settlementAccount'] },
  provider: {
    noun: 'provider',
    verb: 'update',
    members: ['name', 'feeSchedule', 'allowedAddresses'],
  },
  webhook: { noun: 'webhook', verb: 'set', members: ['url'] },
}

/** Returns the guarded call of which a write is the effect. */
const effectOf = ({ before, after }: Change): Guarded | undefined => {
  const kind = after && raw.kindOf(after)
  if (kind === 'refund') {
    const { uuid, reference: target, origin } = after as raw.RawRefund
    const isNew = before ? uuid !== before.uuid : origin !== 'reversal'
    return isNew ? { noun: 'exception', verb: 'refund', target } : undefined
  }
  if (!before || !after) return undefined
  if (kind === 'debit') {
    const { status, reference: target, history, reversalRequest } = after as raw.RawDebit
    const isMoved = before.status !== status && history.at(-1)?.by?.startsWith('operator:')
    const isRequested = reversalRequest !== undefined && status === 'reversed'
    const verb = expectations[status].verb ?? status
    return isMoved ? { noun: 'debit', verb, target, isRequested } : undefined
  }
  if (kind === 'batch') {
    const { id: target, uuid, status } = after as raw.RawBatch
    if (uuid !== before.uuid) return { noun: 'settlement', verb: 'retry', target }
    const isRecorded = before.status === 'failed' && status === 'completed'
    return isRecorded ? { noun: 'settlement', verb: 'complete', target } : undefined
  }
  const { members = [], ...call } = GUARDED[String(after.entity)] ?? { noun: '', verb: '' }
  const isChanged = members.some((name) => !isDeepStrictEqual(before[name], after[name]))
  return isChanged ? { ...call, target: raw.ownerIn(after.pk) } : undefined
}

/** The calls that always need an approval, and those that need one with an option. */
const ALWAYS =
  /^(?:settlement (?:complete|fail|retry)|funding (?:record|correct)|connector (?:set|remove)|customer (?:link|import)|debit (?:reverse|complete|fail|fail-refund)|exception refund|limit remove|webhook rotate-secret)$/
const WITH_OPTION: Readonly<Record<string, RegExp>> = {
  'provider create': /^settlement-/,
  'provider update': /^(?:name|fee-.*|settlement-.*|allow-list|request-secret)$/,
  'bank create': /^connector$/,
  'bank update': /^connector-/,
  'credential issue': /^bank$/,
  'exception resolve': /^(?:file|from)$/,
}

const isGuarded = ({ noun, verb, options }: OperatorCall): boolean => {
  const name = `${noun} ${verb}`
  return ALWAYS.test(name) || Object.keys(options).some((one) => WITH_OPTION[name]?.test(one))
}

/** With approvals, no guarded call is carried out that names no approval. */
const guardedCallsWait: Check = ({ operatorCalls, setup }, report) => {
  for (const one of setup.approvals ? operatorCalls : []) {
    const isDone = one.call.reply?.status === 200 && one.requested === undefined
    if (isDone && one.approval === undefined && isGuarded(one))
      report(`${one.noun} ${one.verb}`, 'was carried out without an approval')
  }
}

/** With approvals, a guarded call takes effect only after a second operator approved it. */
const guardedCallsAreApproved: Check = (index, report) => {
  const { observations, setup, operatorCalls, changesBy, concerns } = index
  if (!setup.approvals) return
  const approved = Map.groupBy(grantedIn(operatorCalls), ({ noun, verb }) => `${noun} ${verb}`)
  const removed = new Set<string>()
  for (const change of observations.changes) {
    const { before, after } = change
    if (before?.entity === 'webhook' && !after) removed.add(before.pk)
    const isBack = !before && after?.entity === 'webhook' && removed.has(after.pk)
    const effect = isBack
      ? { noun: 'webhook', verb: 'set', target: raw.ownerIn(after.pk) }
      : effectOf(change)
    const { noun, verb, target, isRequested }: Partial<Guarded> = (change.by && effect) || {}
    if (!noun) continue
    const isApproved = [`${noun} ${verb}`, ...(isRequested ? ['exception refund'] : [])]
      .flatMap((call) => approved.get(call) ?? [])
      .filter(({ grantedAt }) => grantedAt <= change.at)
      .some((one) =>
        one.noun === 'exception'
          ? concerns(one, String(target))
          : Object.values(one.options)[0] === target,
      )
    if (!isApproved) report(String(target), `${noun} ${verb} took effect without an approval`)
  }
  for (const { call, approval, noun, verb, options } of operatorCalls) {
    const isOne = noun !== 'exception' || options.reference !== undefined || verb === 'upload'
    const changes = isOne || approval !== undefined ? [] : (changesBy.get(call.invocation) ?? [])
    if (changes.some(isRecord))
      report(String(verb), 'about many debits took effect without an approval')
  }
}

export const checks: Checks = { 46: [guardedCallsAreApproved, guardedCallsWait] }
