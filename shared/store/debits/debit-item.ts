import { type Complete, defined, noneRemain } from '../../domain/complete.ts'
import { type Cause, type Debit, type Entry, stateAt } from '../../domain/debits/debit.ts'
import { hasOwnList, lifecycle, type Status } from '../../domain/debits/lifecycle.ts'
import { isUnprompted } from '../../domain/debits/prompts.ts'
import { debitUuid } from '../../domain/ids.ts'
import { type DebitList, keys } from '../keys.ts'
import { debitExpiry, type Expiry } from '../retention.ts'
import { type LineMark, parseMark } from '../settlement/chunk-item.ts'
import { withoutKeys } from '../table.ts'
import { dueAttributes, unsettledAttributes } from '../work-index.ts'

/**
 * The stored form of a debit. History entries are short, because a write costs by the kilobyte: they
 * omit what they share with the previous entry. Metadata is JSON text, so that DynamoDB limits neither
 * its depth nor its numbers.
 */

/** @param previous the entry before it, whose time and cause it may share */
export const writeEntry = (entry: Entry, previous?: Entry) => {
  const { type, at, by, requestId, generation = 1, changes, ...others } = entry
  noneRemain(others)
  const { metadata, ...plain } = changes
  const set = { ...plain, ...(metadata && { metadata: JSON.stringify(metadata) }) }
  return {
    type,
    ...(at.getTime() !== previous?.at.getTime() && { at: at.getTime() }),
    ...(by === previous?.by ? {} : { by }),
    ...(requestId !== previous?.requestId && { rid: requestId }),
    ...(generation > 1 && { gen: generation }),
    ...(Object.keys(set).length > 0 && { set }),
  }
}

const readEntries = (written: readonly ReturnType<typeof writeEntry>[]): Entry[] => {
  const entries: Complete<Entry>[] = []
  for (const { type, at, by, rid, gen, set } of written) {
    const previous = entries.at(-1)
    const { metadata, ...plain } = set ?? {}
    entries.push({
      type,
      at: at === undefined ? (previous?.at ?? new Date(0)) : new Date(at),
      by: by ?? previous?.by ?? '',
      requestId: rid ?? previous?.requestId ?? '',
      generation: gen,
      changes: { ...plain, ...(metadata && { metadata: JSON.parse(metadata) }) },
    })
  }
  return entries
}

/** The generation numbers events, and neither an approval nor a request is one. */
export const writeCause = ({ at, by, requestId, generation: _, ...others }: Cause) => {
  noneRemain(others)
  return { at: at.getTime(), by, rid: requestId }
}

const readCause = ({ at, by, rid }: ReturnType<typeof writeCause>): Complete<Cause> => ({
  at: new Date(at),
  by,
  requestId: rid,
  generation: undefined,
})

/**
 * Returns the list of a debit in by-status after a transition. An open debit keeps its list, so that
 * an ordinary debit is written there once.
 */
export const listOf = (status: Status): DebitList => (hasOwnList(status) ? status : 'main')

/** A completed debit, or a settled one that was reversed, waits for a line. */
const awaitsLine = ({ status, settledIn }: Debit): boolean => {
  const { settlement } = lifecycle[status]
  return settlement === 'settle' || (settlement === 'adjust' && settledIn !== undefined)
}

/**
 * Returns the place of a debit in the work index after a transition. The sweep checks one last time a
 * debit that awaits no line.
 */
export const workAfter = (debit: Debit): { work: string; due: string } => {
  const { facts } = debit
  const { updatedAt } = stateAt(debit)
  return awaitsLine(debit)
    ? unsettledAttributes(facts, updatedAt)
    : dueAttributes(keys.debit(facts.reference), updatedAt)
}

/** Returns the expiry of a debit after its last transition; its line sets that of another one. */
export const expiryAfter = (debit: Debit): Expiry =>
  awaitsLine(debit) ? {} : debitExpiry(stateAt(debit).updatedAt)

/** Returns the partition of a debit in by-customer, which counts prompts. A refused one is not counted. */
export const customerListOf = (debit: Debit): string | undefined => {
  const { bank, phone } = debit.facts
  if (phone === null) return undefined
  return (isUnprompted(debit) ? keys.unprompted : keys.byCustomer)(bank.identifier, phone)
}

export const toDebitItem = (debit: Debit) => {
  const { facts, status, version, history, approval, reversalRequest, ...settlement } = debit
  // Settlement and an erasure write their marks themselves.
  const { settledIn, settledChunk, adjustedIn, adjustedChunk, erasedAt, ...others } = settlement
  noneRemain(others)
  const { metadata, uuid, ...plain } = facts
  const { createdAt } = stateAt(debit, 0)
  return {
    ...keys.debit(facts.reference),
    entity: 'debit',
    byStatus: keys.debits(facts.provider, listOf(status)),
    byCustomer: customerListOf(debit),
    byTime: keys.byTime(createdAt, facts.reference),
    ...plain,
    ...(Object.keys(metadata).length > 0 && { metadata: JSON.stringify(metadata) }),
    status,
    version,
    history: history.map((entry, index) => writeEntry(entry, history[index - 1])),
    ...(approval && { approval: writeCause(approval) }),
    ...(reversalRequest && { reversalRequest: writeCause(reversalRequest) }),
  }
}

type DebitItem = ReturnType<typeof toDebitItem> & {
  settledIn?: LineMark
  adjustedIn?: LineMark
  erasedAt?: number
} & Expiry

export const fromDebitItem = (item: Record<string, unknown>): Debit => {
  const { status, version, history, approval, metadata, settledIn, adjustedIn, ...rest } =
    withoutKeys<DebitItem>(item)
  const { byCustomer, reversalRequest, erasedAt, expiresAt, ...plain } = rest
  const [settled, adjusted] = [settledIn, adjustedIn].map(parseMark)
  return defined<Complete<Debit>>({
    facts: {
      ...plain,
      // Debits of an earlier version have no name.
      providerName: plain.providerName ?? plain.provider,
      uuid: debitUuid(plain.reference),
      phone: plain.phone ?? null,
      narration: plain.narration ?? null,
      metadata: metadata ? JSON.parse(metadata) : {},
    },
    status,
    version,
    history: readEntries(history),
    approval: approval && readCause(approval),
    reversalRequest: reversalRequest && readCause(reversalRequest),
    settledIn: settled?.batch,
    settledChunk: settled?.chunk,
    adjustedIn: adjusted?.batch,
    adjustedChunk: adjusted?.chunk,
    erasedAt: erasedAt === undefined ? undefined : new Date(erasedAt),
  })
}
