import { isDeepStrictEqual } from 'node:util'
import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import { isAccepted, isSelected, membersOf } from './calls.ts'
import { ownerIn } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { HOUR_MS, MINUTE_MS } from './time-and-money.ts'

/** What calls of operators leave behind: records, and no text that nobody needs any more. */

/** The settings, and the members that follow from others or that each write seals again. */
const SETTINGS: Record<string, ReadonlySet<string>> = {
  provider: new Set(['id', 'countedUntil', 'requestSigning']),
  payee: new Set(),
  webhook: new Set(['secret', 'previous', 'since', 'subscribedAt']),
  bank: new Set(['identifier']),
  connector: new Set(['secret']),
  account: new Set(['changedAt']),
}

const UNRECORDED = new Set('pk sk entity byStatus byTime byCustomer revision addedLater'.split(' '))

/** The values that an absent member means. */
const USUAL = new Set<unknown>(['off', 'all', 'accept'])

const changedIn = ({ before, after }: Change): string[] => {
  const [earlier, later] = [before, after].map(
    (item) => (name: string) => (USUAL.has(item?.[name]) ? undefined : item?.[name]),
  )
  return Object.keys({ ...before, ...after }).filter(
    (name) => !UNRECORDED.has(name) && !isDeepStrictEqual(earlier?.(name), later?.(name)),
  )
}

/** What an operator changes at once: settings, decisions, and the objects of single verbs. */
const isDecided = (change: Change): boolean => {
  const { before, after } = change
  const { entity } = (after ?? before) as Item
  if (entity === 'approval') return before?.decision !== after?.decision
  if (entity === 'exception') return before?.resolvedAt !== after?.resolvedAt
  const isSingle = ['credential', 'calendar', 'restore', 'funding'].includes(String(entity))
  return isSingle && changedIn(change).length > 0
}

/** The transaction of a change by an operator has its record, with each member that changed. */
const changesAreRecorded: Check = ({ observations: { changes }, operatorCalls }, report) => {
  const own = changes.filter(({ by }) => by?.name.startsWith('manage-'))
  // A file of accounts has one record.
  const imports = new Set(
    operatorCalls.flatMap(({ verb, call }) => (verb === 'import' ? call.invocation : [])),
  )
  for (const writes of Map.groupBy(own, ({ transaction }) => transaction).values()) {
    const records = writes.flatMap(({ after }) =>
      after?.entity === 'change' ? Object.keys(membersOf(after.changed)) : [],
    )
    const members = writes.flatMap((write) => {
      const { entity } = (write.after ?? write.before) as Item
      const [ignored, isOfFile] = [SETTINGS[String(entity)], imports.has(write.by?.invocation ?? 0)]
      return ignored && !(isOfFile && entity === 'account')
        ? changedIn(write).filter((name) => !ignored.has(name))
        : []
    })
    const isRight =
      records.length >= members.length && (records.length > 0 || !writes.some(isDecided))
    const item = writes[0]?.after ?? writes[0]?.before
    if (!isRight)
      report(`${item?.pk} ${item?.sk}`, `changes ${members}, but its record has ${records}`)
  }
}

/** The calls that show objects of customers. */
const SHOWING = /^manage-(?:debit|exception) (?:list|show)$/

/** The hour of a record, and the greatest error of a worker's clock. */
const RECORDED_WITHIN_MS = HOUR_MS + 4 * MINUTE_MS

/** A reply with the debits of customers follows a record of the access to each, in the same hour. */
const readsAreRecorded: Check = ({ observations, debits }, report) => {
  const accesses = observations.changes.flatMap(({ after }) =>
    after?.entity === 'access' ? [after] : [],
  )
  const readsBy = Map.groupBy(accesses, ({ by, noun, verb }) => `${by} manage-${noun} ${verb}`)
  for (const call of observations.calls) {
    const { actor = 'unknown', verb } = membersOf(call.sent)
    const about = `${call.name} ${verb}`
    if (!SHOWING.test(about) || !isAccepted(call)) continue
    const rows = [membersOf(call.reply?.body).result ?? []].flat().map(membersOf)
    const phones = rows.map(({ reference }) => debits.get(String(reference))?.item.phone)
    const shown = new Set(phones.filter((phone) => phone !== undefined)).size
    const reads = (readsBy.get(`${actor} ${about}`) ?? []).filter(
      ({ at }) => Math.abs(Date.parse(String(at)) - call.at) <= RECORDED_WITHIN_MS,
    )
    const recorded = new Set(reads.map(({ byCustomer }) => byCustomer)).size
    if (recorded < shown)
      report(about, `shows ${shown} customers, but records ${recorded} accesses`)
  }
}

/** No call of an operator about debits shows a whole number. */
const repliesMaskNumbers: Check = ({ operatorCalls, debits }, report) => {
  const phones = new Set([...debits.values()].map(({ item }) => item.phone))
  for (const { noun, verb, call } of operatorCalls) {
    const text = /^(?:debit|delivery|exception)$/.test(noun) ? JSON.stringify(call.reply?.body) : ''
    if ([...phones].some((phone) => phone && text?.includes(phone)))
      report(`${noun} ${verb}`, 'shows the whole number of a customer')
  }
}

/** What was typed for a request, or uploaded, is gone after its end. */
const requestsEnd: Check = ({ observations: { items }, operatorCalls }, report) => {
  const approvals = items.filter(({ entity }) => entity === 'approval')
  const isOver = ({ decision, doneAt }: Item): boolean => decision === 'denied' || Boolean(doneAt)
  const ended = new Set(approvals.filter(isOver).map(({ id }) => id))
  const imported = new Set(
    operatorCalls.flatMap(({ noun, result, options, approval }) => {
      const request = approvals.find(({ id }) => id === approval)
      const { bulk } = { ...options, ...membersOf(request?.scope) }
      return noun === 'customer' && result.added !== undefined ? [bulk] : []
    }),
  )
  for (const { entity, pk, id } of items) {
    const isLeft =
      (entity === 'plain-options' && ended.has(id)) ||
      (entity === 'bulk-rows' && imported.has(ownerIn(pk).split('#')[0]))
    if (isLeft) report(pk, 'has personal texts of a request that has ended')
  }
}

/** A note closes each exception that was open when the call began: of its kind, or of the only kind. */
const notesCloseExceptions: Check = ({ decisions, exceptionChanges }, report) => {
  const changesOf = Map.groupBy(exceptionChanges, ({ after, before }) =>
    String((after ?? before)?.reference),
  )
  for (const { verb, call, options } of decisions) {
    const { at, reply } = call
    if (verb !== 'resolve' || reply?.status !== 200 || !options.reference) continue
    const own = Map.groupBy(changesOf.get(options.reference) ?? [], ({ after }) => after?.sk)
    for (const changes of own.values()) {
      const [first] = changes
      const isMeant = [undefined, first?.after?.kind].includes(options.kind as never)
      const last = changes.findLast((change) => change.at <= reply.at)?.after
      if (isMeant && first && first.at < at && last && !last.resolvedAt)
        report(options.reference, `has an open ${last.kind} after a note`)
    }
  }
}

/** A call about the exceptions of days closes each that was open when it began, or has its outcome. */
const selectionsAreWhole: Check = ({ decisions, exceptionChanges, observations }, report) => {
  const left = new Set(
    observations.items.flatMap(({ entity, outcome, object }) =>
      entity === 'bulk-outcome' && outcome !== 'done' ? [object] : [],
    ),
  )
  const histories = Map.groupBy(exceptionChanges, ({ after, before }) => {
    const { pk, sk } = after ?? before ?? {}
    return `${pk} ${sk}`
  })
  for (const { call, options } of decisions) {
    const { at, reply } = call
    const { result, error } = membersOf(reply?.body)
    if (!reply || error !== undefined || membersOf(result).processed !== undefined) continue
    for (const [first, ...later] of options.from ? histories.values() : []) {
      const one = first?.after
      if (!one || first.at >= at || !isSelected(options, one) || left.has(one.reference)) continue
      const last = later.findLast((change) => change.at <= reply.at)?.after ?? one
      if (!last.resolvedAt)
        report(one.reference, `has an open ${one.kind} after a call about its day`)
    }
  }
}

export const checks: Checks = {
  56: [notesCloseExceptions, selectionsAreWhole],
  74: [changesAreRecorded, readsAreRecorded, repliesMaskNumbers, requestsEnd],
}
