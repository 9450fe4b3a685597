import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import { membersOf, type OperatorCall } from './calls.ts'
import type * as raw from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { settingVerbs } from './setting-timeline.ts'
import { pesewasOf } from './time-and-money.ts'

/** The decisions of operators on requests for approval and on exceptions. */

/** Before a new URL, `webhook set` renews the health; a repeat after a crash finds it renewed. */
const isRenewal = ({ changed }: Item): boolean =>
  Object.keys(changed as object).every((name) => HEALTH_MEMBERS.test(name))
const HEALTH_MEMBERS = /^(?:health|\w+_since|\w+_at|is_sidelined)$/

/** An import is recorded before its work, which may not end. */
const isEffect = ({ after }: Change): boolean =>
  after?.entity === 'change' && !(after.verb === 'import' || isRenewal(after))

/** Reports whether a call is about many debits, each with an effect of its own. */
const isAboutMany = ({ noun, options }: Pick<OperatorCall, 'noun' | 'options'>): boolean =>
  noun === 'exception' && options.reference === undefined

/** The options that select debits of a call about many. */
const SELECTION = new Set('file bulk kind bank from to'.split(' '))

/** Secrets are sealed; these words choose an effect. A refund that is open keeps its reason. */
const isWritten = (name: string, text: string): boolean =>
  !name.endsWith('-secret') && !['none', 'true', 'Outage'].includes(text)

/** Returns the options that the changes of a granted request do not contain. */
const missingIn = (changes: readonly Change[], request: OperatorCall): string[] => {
  const written = changes.map(({ after }) => JSON.stringify(after)).join('\n')
  return Object.entries(request.options).flatMap(([name, text]) => {
    const amount = pesewasOf(text)
    const isFound =
      written.includes(text) || (amount !== undefined && written.includes(`${amount}`))
    const isSelecting = isAboutMany(request) && SELECTION.has(name)
    return isWritten(name, text) && !isFound && !isSelecting ? [name] : []
  })
}

/** Both nouns change debits: a refund of a request reverses its debit. */
const objectOf = ({ noun, target }: Item) => `${noun === 'exception' ? 'debit' : noun} ${target}`

/** A granted request takes effect once, as its requester asked; a denied one never. */
const requestsTakeEffectOnce: Check = ({ operatorCalls, observations, changesBy }, report) => {
  const requests = new Map(operatorCalls.map((call) => [call.requested, call]))
  const runsOf = Map.groupBy(operatorCalls, ({ approval }) => approval)
  const touched = new Set(
    observations.changes.map(({ after }) => after?.entity === 'change' && objectOf(after)),
  )
  for (const item of observations.items.filter(({ entity }) => entity === 'approval')) {
    const id = String(item.id)
    const runs = new Set((runsOf.get(id) ?? []).map(({ call }) => call.invocation))
    const effects = [...runs]
      .map((invocation) => changesBy.get(invocation) ?? [])
      .filter((changes) => changes.some(isEffect))
    const [changes] = effects
    const request = requests.get(id)
    const isMany = request !== undefined && isAboutMany(request)
    if (effects.length > 1 && !isMany) report(id, `took effect ${effects.length} times`)
    if (changes && item.refusal && !isMany) report(id, 'took effect, but is refused')
    if (changes && !item.doneAt && !isMany) report(id, 'took effect, but has not ended')
    if (changes && item.decision !== 'granted') report(id, `is ${item.decision}, but ran`)
    if (changes && !request) report(id, 'took effect without a known request')
    const names = [request?.actor, item.decidedBy].map((name) => String(name).toLowerCase())
    if (changes && new Set(names).size === 1) report(id, 'was granted by its requester')
    const isOthers = ({ after }: Change) =>
      after?.entity === 'change' &&
      (after.by !== request?.actor || after.approvedBy !== item.decidedBy)
    if (changes?.some(isOthers)) report(id, `is not of ${request?.actor} and ${item.decidedBy}`)
    const missing = request && changes ? missingIn(changes, request) : []
    if (missing.length > 0) report(id, `took effect without its ${missing.join(', ')}`)
    // The object may have been as requested; 57 compares settings.
    const isSetting = (settingVerbs as readonly string[]).includes(`${item.noun} ${item.verb}`)
    const mayBeIdle = [item.refusal, isSetting, isMany, touched.has(objectOf(item))].some(Boolean)
    if (item.doneAt && !mayBeIdle && !changes) report(id, 'is done, but had no effect')
  }
}

/** A granted call that has replied has ended its request, unless it is about many and continues. */
const repliesEndRequests: Check = ({ operatorCalls, changesBy, observations }, report) => {
  const ended = new Set(
    observations.items.flatMap(({ entity, id, doneAt }) =>
      entity === 'approval' && doneAt ? [id] : [],
    ),
  )
  for (const { approval, call, result } of operatorCalls) {
    const isRun = changesBy.get(call.invocation)?.some(({ after }) => after?.claim !== undefined)
    const isOver = isRun && call.reply !== undefined && result.processed === undefined
    if (isOver && !ended.has(approval)) report(String(approval), 'ran, but can run again')
  }
}

/** The end of a request is written once. */
const requestsEndOnce: Check = ({ observations }, report) => {
  for (const { before, after } of observations.changes) {
    if (after?.entity !== 'approval') continue
    if (before?.doneAt && before.doneAt !== after.doneAt) report(String(after.id), 'ended twice')
  }
}

export const isRecord = ({ after }: Change) =>
  after?.entity === 'change' && after.noun === 'exception'

/** A call about many takes effect once on each of its debits, with its outcome, and on no other. */
const callsAboutManyTakeEffectOnce: Check = (index, report) => {
  const { decisions, concerns, changesBy, observations } = index
  const effects = new Set<string>()
  const outcomes = new Set(
    observations.changes.map(
      ({ after, transaction }) =>
        after?.entity === 'bulk-outcome' && `${transaction} ${after.object}`,
    ),
  )
  for (const decision of decisions.filter(isAboutMany)) {
    const { call, approval, options, verb } = decision
    const records = (changesBy.get(call.invocation) ?? []).filter(isRecord)
    // Two granted calls can be about one upload: the second repeats refunds that have failed since.
    const id = approval ?? (options.bulk ? `${options.bulk} ${verb}` : call.invocation)
    for (const target of new Set(records.map(({ after }) => String(after?.target)))) {
      if (effects.has(`${id} ${target}`)) report(target, `is changed twice by the call ${id}`)
      effects.add(`${id} ${target}`)
      if (!concerns(decision, target)) report(target, 'is changed by a call about other debits')
    }
    for (const { after, transaction } of records)
      if (!outcomes.has(`${transaction} ${after?.target}`))
        report(String(after?.target), 'is changed without an outcome in the same transaction')
  }
  const records = new Set(
    observations.changes
      .filter(isRecord)
      .map(({ after, transaction }) => `${transaction} ${after?.target}`),
  )
  for (const { after, transaction } of observations.changes) {
    if (after?.entity !== 'bulk-outcome' || after.outcome !== 'done' || after.totals) continue
    if (!records.has(`${transaction} ${after.object}`))
      report(String(after.object), 'is done, but its record is not in the same transaction')
  }
}

/** Returns what makes two reports of a bank the same. */
const contentOf = ({ kind, report }: raw.RawException): string => {
  const { status, bank_reference: reference } = membersOf(report)
  const isRead = typeof status === 'string' && typeof reference === 'string'
  return `${kind} ${isRead ? `${status} ${reference}` : report}`
}

type Known = { kind: string; content: string; openedAt: number; closedAt: number }

/**
 * A closed exception stays closed, and its repeat begins closed; another report begins open. An operator refunds
 * an open exception, or a late completion despite its note.
 */
const closedExceptionsStayClosed: Check = (index, report) => {
  const knownOf = new Map<string, Map<string, Known>>()
  for (const { before, after, at, since } of index.exceptionChanges) {
    const { reference, sk } = (after ?? before) as raw.RawException
    const known = knownOf.get(reference) ?? new Map<string, Known>()
    knownOf.set(reference, known)
    if (!after || (before?.resolvedAt && !after.resolvedAt))
      report(reference, 'was closed, but is open')
    if (before?.resolvedAt && after?.resolvedAt && before.resolvedAt !== after.resolvedAt)
      report(reference, 'was closed twice')
    if (!after) continue
    const content = contentOf(after)
    const same = [...known.values()].filter((one) => one.content === content)
    const isRepeat = same.length > 0 && after.kind !== 'refund'
    const isOpenAgain = isRepeat && same.every(({ closedAt }) => closedAt < since)
    if (!before && !after.resolvedAt && isOpenAgain)
      report(reference, 'has an open exception for a report that an operator has decided')
    // A repeat that is stored meanwhile may have been unseen.
    const seen = same.filter(({ openedAt, closedAt }) => openedAt < since || closedAt <= at)
    const isDecided = isRepeat && seen.length > 0 && seen.every(({ closedAt }) => closedAt <= at)
    if (!before && after.resolvedAt && !isDecided)
      report(reference, 'has an exception that nobody closed')
    const { openedAt = at, closedAt = Infinity } = known.get(sk) ?? {}
    const closed = after.resolvedAt ? Math.min(closedAt, at) : closedAt
    known.set(sk, { kind: after.kind, content, openedAt, closedAt: closed })
  }
  for (const [reference, { changes }] of index.refunds) {
    for (const { before, after, at, since } of changes) {
      const kind = before ? 'refund' : after?.origin
      if (!after || before?.uuid === after.uuid || kind === 'reversal') continue
      const isOpen = knownOf
        .get(reference)
        ?.values()
        .some((one) => one.kind === kind && one.closedAt > since)
      const isDespiteNote = index
        .decisionsOf(reference)
        .some(({ options, call }) => options['despite-note'] !== undefined && call.at <= at)
      if (!isOpen && (before || !isDespiteNote)) report(reference, 'is refunded after a note')
    }
  }
}

export const checks: Checks = {
  55: [repliesEndRequests, requestsEndOnce, requestsTakeEffectOnce, callsAboutManyTakeEffectOnce],
  56: [closedExceptionsStayClosed],
}
