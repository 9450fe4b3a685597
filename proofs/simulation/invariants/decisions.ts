import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import { membersOf, type OperatorCall } from './calls.ts'
import type { History } from './item-histories.ts'
import type { Check, ObservationIndex, Reporter } from './observation-index.ts'
import type { RawException, RawRefund } from './raw-items.ts'
import { settingVerbs } from './setting-timeline.ts'
import { pesewasOf } from './time-and-money.ts'

/** 55, 56: the decisions of operators on requests for approval and on exceptions. */

/** Returns the records of the changes that invocations of granted requests made, by invocation. */
const effectsOf = (runs: readonly OperatorCall[], { changesBy }: ObservationIndex): Change[][] =>
  [...new Set(runs.map(({ call }) => call.invocation))]
    .map((invocation) => changesBy.get(invocation) ?? [])
    .filter((changes) => changes.some(isEffect))

/** A payout and an import are recorded before each attempt: a retry takes effect by its uuid. */
const isEffect = ({ before, after }: Change): boolean =>
  after?.entity === 'batch'
    ? before?.uuid !== after.uuid
    : after?.entity === 'change' && after.noun !== 'settlement' && after.verb !== 'import'

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
  const { options } = request
  const written = changes.map(({ after }) => JSON.stringify(after)).join('\n')
  return Object.entries(options).flatMap(([name, text]) => {
    const amount = pesewasOf(text)
    const isFound =
      written.includes(text) || (amount !== undefined && written.includes(`${amount}`))
    const isSelecting = isAboutMany(request) && SELECTION.has(name)
    return isWritten(name, text) && !isFound && !isSelecting ? [name] : []
  })
}

/** Both nouns change debits: a refund of a request reverses its debit. */
const objectOf = ({ noun, target }: Item): string =>
  `${noun === 'exception' ? 'debit' : noun} ${target}`

/** 55: a granted request takes effect once, as its requester asked; a denied one never. */
export const requestsTakeEffectOnce: Check = (index, report) => {
  const { operatorCalls, observations } = index
  const requests = new Map(operatorCalls.map((call) => [call.requested, call]))
  const runsOf = Map.groupBy(operatorCalls, ({ approval }) => approval)
  const touched = new Set(
    observations.changes.map(({ after }) => after?.entity === 'change' && objectOf(after)),
  )
  for (const item of observations.items) {
    if (item.entity !== 'approval') continue
    const id = String(item.id)
    const effects = effectsOf(runsOf.get(id) ?? [], index)
    const [changes = []] = effects
    const request = requests.get(id)
    const isMany = request !== undefined && isAboutMany(request)
    if (effects.length > 1 && !isMany) report(id, `took effect ${effects.length} times`)
    if (effects.length > 0 && item.decision !== 'granted')
      report(id, `is ${item.decision}, but ran`)
    if (effects.length > 0 && !request) report(id, 'took effect without a known request')
    const isOthers = ({ after }: Change) =>
      after?.entity === 'change' && after.by !== request?.actor
    if (changes.some(isOthers)) report(id, `is not recorded as a call of ${request?.actor}`)
    const missing = request && effects.length > 0 ? missingIn(changes, request) : []
    if (missing.length > 0) report(id, `took effect without its ${missing.join(', ')}`)
    // The object may have been as requested; 57 compares settings.
    const isSetting = (settingVerbs as readonly string[]).includes(`${item.noun} ${item.verb}`)
    const isDone =
      item.doneAt && ![item.refusal, isSetting, isMany, touched.has(objectOf(item))].some(Boolean)
    if (isDone && effects.length === 0) report(id, 'is done, but had no effect')
  }
}

const isRecord = ({ after }: Change): boolean =>
  after?.entity === 'change' && after.noun === 'exception'

/** 55: a call about many takes effect once on each of its debits, with its outcome, and on no other. */
export const callsAboutManyTakeEffectOnce: Check = (index, report) => {
  const { decisions, concerns, changesBy, observations } = index
  const effects = new Set<string>()
  for (const decision of decisions.filter(isAboutMany)) {
    const { call, approval, options, verb } = decision
    const targets = (changesBy.get(call.invocation) ?? [])
      .filter(isRecord)
      .map(({ after }) => String(after?.target))
    // Two granted calls can be about one upload: the second repeats refunds that have failed since.
    const id = approval ?? (options.bulk ? `${options.bulk} ${verb}` : call.invocation)
    for (const target of new Set(targets)) {
      if (effects.has(`${id} ${target}`)) report(target, `is changed twice by the call ${id}`)
      effects.add(`${id} ${target}`)
      if (!concerns(decision, target)) report(target, 'is changed by a call about other debits')
    }
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
const contentOf = ({ kind, report }: RawException): string => {
  const { status, bank_reference: reference } = membersOf(report)
  const isRead = typeof status === 'string' && typeof reference === 'string'
  return `${kind} ${isRead ? `${status} ${reference}` : report}`
}

type Known = { kind: string; content: string; openedAt: number; closedAt: number }

/** 56: a closed exception stays closed, and its repeat begins closed; another report begins open. */
export const closedExceptionsStayClosed: Check = (index, report) => {
  const knownOf = new Map<string, Map<string, Known>>()
  for (const { before, after, at, by } of index.exceptionChanges) {
    const { reference, sk } = (after ?? before) as RawException
    const known = knownOf.get(reference) ?? new Map<string, Known>()
    knownOf.set(reference, known)
    if (!after || (before?.resolvedAt && !after.resolvedAt))
      report(reference, 'was closed, but is open')
    if (!after) continue
    const content = contentOf(after)
    const same = [...known.values()].filter((one) => one.content === content)
    const since = index.startOf(by?.invocation, at)
    const isRepeat = same.length > 0 && after.kind !== 'refund'
    const isOpenAgain = isRepeat && same.every(({ closedAt }) => closedAt < since)
    if (!before && !after.resolvedAt && isOpenAgain) {
      report(reference, 'has an open exception for a report that an operator has decided')
    }
    // A repeat that is stored meanwhile may have been unseen.
    const seen = same.filter(({ openedAt, closedAt }) => openedAt < since || closedAt <= at)
    const isDecided = isRepeat && seen.length > 0 && seen.every(({ closedAt }) => closedAt <= at)
    if (!before && after.resolvedAt && !isDecided) {
      report(reference, 'has an exception that nobody closed')
    }
    const closedAt = known.get(sk)?.closedAt ?? Number.POSITIVE_INFINITY
    known.set(sk, {
      kind: after.kind,
      content,
      openedAt: known.get(sk)?.openedAt ?? at,
      closedAt: after.resolvedAt ? Math.min(closedAt, at) : closedAt,
    })
  }
  for (const refund of index.refunds.values()) checkRefund(refund, knownOf, index, report)
}

/** An operator refunds an open exception, or a late completion despite its note. */
const checkRefund = (
  { item: { reference }, changes }: History<RawRefund>,
  knownOf: ReadonlyMap<string, ReadonlyMap<string, Known>>,
  { decisionsOf, startOf }: ObservationIndex,
  report: Reporter,
): void => {
  for (const { before, after, at, by } of changes) {
    const kind = before ? 'refund' : after?.origin
    if (!after || before?.uuid === after.uuid || kind === 'reversal') continue
    const since = startOf(by?.invocation, at)
    const isOpen = [...(knownOf.get(reference)?.values() ?? [])].some(
      (one) => one.kind === kind && one.closedAt > since,
    )
    const isDespiteNote = decisionsOf(reference).some(
      ({ options, call }) => options['despite-note'] !== undefined && call.at <= at,
    )
    if (!isOpen && (before || !isDespiteNote)) report(reference, 'is refunded after a note')
  }
}
