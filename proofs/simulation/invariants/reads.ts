import type { ApiCall } from '../engine/observations.ts'
import { type Members, membersOf } from './calls.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import * as payload from './payload.ts'
import { batchIn } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** What callers read of debits, deliveries and exceptions is what the table has. */

/** Returns what a reply must show of the object of a row; several if it may have changed meanwhile. */
type Expected = (row: Members, call: ApiCall, index: ObservationIndex) => readonly object[]

const ofDebit =
  (readOf: (debit: DebitHistory, n: number) => object): Expected =>
  (row, { path }, { debits }) => {
    const debit = debits.get(String(row.reference ?? path.reference))
    const n = debit?.entries.findLastIndex(({ type }) => type === row.status) ?? -1
    return debit && n >= 0 ? [readOf(debit, n)] : []
  }

const inList = (debit: DebitHistory, n: number): object => {
  const { response: _, ...facts } = payload.readOf(debit, n)
  return facts
}

/** An index can be late. */
const LATE_MS = 10 * MINUTE_MS

/** Returns the versions of an item that a reply can show. */
const versionsIn = <T>(
  changes: readonly { at: number; after: T | undefined }[],
  { at, reply }: ApiCall,
): T[] => {
  const first = changes.findLastIndex((change) => change.at <= at - LATE_MS)
  const shown = changes.slice(Math.max(first, 0)).filter((change) => change.at <= (reply?.at ?? at))
  return shown.flatMap(({ after }) => after ?? [])
}

/** The debit with each version of its refund that the reply can show. */
const withRefund =
  (readOf: (debit: DebitHistory, n: number) => object): Expected =>
  (row, call, index) => {
    const { changes = [] } = index.refunds.get(String(row.reference)) ?? {}
    const refunds = versionsIn(changes, call).map(payload.refundReadOf)
    const isFirst = (changes[0]?.at ?? Infinity) > call.at
    return ofDebit(readOf)(row, call, index).flatMap((debit) =>
      [...(isFirst ? [null] : []), ...refunds].map((refund) => ({ ...debit, refund })),
    )
  }

/** The debit with each of its settlements that the reply can show. */
const withSettlement =
  (expected: Expected): Expected =>
  (row, call, index) => {
    const { changes = [] } = index.debits.get(String(row.reference)) ?? {}
    const settlements = versionsIn(changes, call).map(({ settledIn, adjustedIn }) =>
      settledIn ? { batch_id: batchIn(settledIn), adjusted_in: batchIn(adjustedIn) ?? null } : null,
    )
    return expected(row, call, index).flatMap((debit) =>
      settlements.map((settlement) => ({ ...debit, settlement })),
    )
  }

const delivery: Expected = (row, call, { deliveriesOf }) =>
  (deliveriesOf.get(String(row.reference)) ?? [])
    .flatMap(({ changes }) => versionsIn(changes, call).map(payload.deliveryReadOf))
    .filter(({ event_id }) => event_id === row.event_id)

const exception: Expected = (row, call, { exceptionChanges }) => {
  const own = exceptionChanges.filter(
    ({ after }) =>
      after?.reference === row.reference &&
      after?.kind === row.kind &&
      after?.at === row.at &&
      after?.requestId === row.request_id,
  )
  return versionsIn(own, call).map(payload.exceptionReadOf)
}

const reads: Record<string, Expected> = {
  'get-debit-request': withSettlement(withRefund(payload.readOf)),
  'list-debit-requests': ofDebit(inList),
  'list-debit-transactions': ofDebit(payload.bankReadOf),
  'manage-debit list': ofDebit(payload.operatorReadOf),
  'manage-debit show': ofDebit(payload.operatorReadOf),
  'list-deliveries': delivery,
  'manage-delivery list': delivery,
  'manage-exception list': exception,
}

const rowsIn = ({ reply }: ApiCall): Members[] => {
  const { data, result } = membersOf(reply?.status === 200 ? reply.body : {})
  const read = data ?? result ?? []
  return [membersOf(read).transactions ?? read].flat() as Members[]
}

const readsShowTheirState: Check = (index, report) => {
  for (const call of index.observations.calls) {
    const { verb } = membersOf(call.sent)
    const name = verb === undefined ? call.name : `${call.name} ${verb}`
    for (const row of (reads[name] && rowsIn(call)) ?? []) {
      const differences = reads[name]?.(row, call, index).map((expected) => {
        const shown = Object.keys(expected).map((member) => [member, row[member]])
        return payload.differing(Object.fromEntries(shown), expected)
      })
      const isShown = differences?.includes(undefined)
      const [wrong = 'object'] = differences ?? []
      if (!isShown) report(String(row.reference), `was read with another ${wrong} by ${name}`)
    }
  }
}

/** A debit keeps the account that its bank debited, although its number has another one now. */
const bankListsShowTheDebitedAccount: Check = ({ observations: { calls } }, report) => {
  for (const call of calls.filter(({ name }) => name === 'list-debit-transactions'))
    for (const { reference, customer, account } of rowsIn(call)) {
      const { account_number: debited } = membersOf(customer)
      if (debited && membersOf(account).account_number !== debited)
        report(String(reference), 'is listed with another account')
    }
}

const ownDebitsAreFound: Check = ({ observations: { calls }, debits }, report) => {
  for (const { name, path, caller, at, reply } of calls) {
    const { item, changes } = debits.get(String(path.reference)) ?? {}
    const isOwn = name === 'get-debit-request' && item?.provider === caller?.id
    if (isOwn && reply?.status === 404 && (changes?.[0]?.at ?? Infinity) < at)
      report(item?.reference ?? '', 'was not found')
  }
}

export const checks: Checks = {
  1: [readsShowTheirState, bankListsShowTheDebitedAccount, ownDebitsAreFound],
}
