import {
  type Cause,
  type Changes,
  type Debit,
  type Entry,
  type Facts,
  stateAt,
} from '../../domain/debits/debit.ts'
import type { BatchId } from '../../domain/settlement/batch.ts'
import { keys } from '../keys.ts'
import { withoutKeys } from '../table.ts'
import { dueAttributes } from '../work-index.ts'

/**
 * How a debit is written down. Short where it is repeated (history entries keep milliseconds and
 * leave out what they share with the entry before), because a write costs by the kilobyte.
 * Metadata is one JSON string, so its depth and its numbers are nobody's limit.
 */

type WrittenChanges = Omit<Changes, 'metadata'> & { metadata?: string }

export type WrittenEntry = {
  type: Entry['type']
  at?: number
  by?: string
  rid?: string
  gen?: number
  set?: WrittenChanges
}

export type DebitItem = Omit<Facts, 'metadata'> & {
  pk: string
  sk: string
  entity: 'debit'
  byStatus: string
  byCustomer: string
  byTime: string
  /** Until it has come to its end and all that follows is seen to, somebody looks after it. */
  work?: string
  due?: string
  metadata?: string
  status: Debit['status']
  version: number
  history: WrittenEntry[]
  approval?: { at: number; by: string; rid: string }
  settledIn?: BatchId
  adjustedIn?: BatchId
}

/** @param before the entry it follows, whose cause it may share */
export const writeEntry = (entry: Entry, before?: Entry): WrittenEntry => {
  const { metadata, ...plain } = entry.changes
  const set = { ...plain, ...(metadata ? { metadata: JSON.stringify(metadata) } : {}) }
  return {
    type: entry.type,
    ...(entry.at.getTime() === before?.at.getTime() ? {} : { at: entry.at.getTime() }),
    ...(entry.by === before?.by ? {} : { by: entry.by }),
    ...(entry.requestId === before?.requestId ? {} : { rid: entry.requestId }),
    ...writeGeneration(entry),
    ...(Object.keys(set).length > 0 ? { set } : {}),
  }
}

const writeGeneration = ({ generation = 1 }: Entry) => (generation > 1 ? { gen: generation } : {})

const readEntries = (written: readonly WrittenEntry[]): Entry[] => {
  const entries: Entry[] = []
  for (const { type, at, by, rid, gen, set } of written) {
    const before = entries.at(-1)
    const { metadata, ...plain } = set ?? {}
    entries.push({
      type,
      at: at === undefined ? (before?.at ?? new Date(0)) : new Date(at),
      by: by ?? before?.by ?? '',
      requestId: rid ?? before?.requestId ?? '',
      ...(gen ? { generation: gen } : {}),
      changes: { ...plain, ...(metadata ? { metadata: JSON.parse(metadata) } : {}) },
    })
  }
  return entries
}

export const writeApproval = ({ at, by, requestId }: Cause) => ({
  at: at.getTime(),
  by,
  rid: requestId,
})

/**
 * Where a debit is looked for after a move: one that was completed, or was reversed when it was
 * settled already, waits for settlement; any other that came to its end is looked at once more.
 */
export const workAfter = (debit: Debit): { work: string; due: string } => {
  const { facts, status, settledIn } = debit
  // The time that settlement goes by: a history does not run backwards, though clocks differ.
  const { updatedAt } = stateAt(debit)
  return status === 'completed' || (status === 'reversed' && settledIn)
    ? { work: keys.unsettled(facts.provider), due: updatedAt.toISOString() }
    : dueAttributes(facts.reference, updatedAt)
}

export const toDebitItem = (debit: Debit): DebitItem => {
  const { facts, status, version, history } = debit
  const { metadata, ...plain } = facts
  const { createdAt } = stateAt(debit, 0)
  return {
    ...keys.debit(facts.reference),
    entity: 'debit',
    byStatus: keys.byStatus(facts.provider, status),
    byCustomer: keys.byCustomer(facts.bank.identifier, facts.phone),
    byTime: keys.byTime(createdAt, facts.reference),
    ...dueAttributes(facts.reference, createdAt),
    ...plain,
    ...(Object.keys(metadata).length > 0 ? { metadata: JSON.stringify(metadata) } : {}),
    status,
    version,
    history: history.map((entry, n) => writeEntry(entry, history[n - 1])),
    ...(debit.approval ? { approval: writeApproval(debit.approval) } : {}),
  }
}

export const fromDebitItem = (item: Record<string, unknown>): Debit => {
  const { status, version, history, approval, metadata, settledIn, adjustedIn, ...rest } =
    withoutKeys<Omit<DebitItem, 'pk' | 'sk' | 'entity'>>(item)
  const { byStatus, byCustomer, byTime, work, due, ...plain } = rest
  return {
    facts: { ...plain, metadata: metadata ? JSON.parse(metadata) : {} },
    status,
    version,
    history: readEntries(history),
    ...(approval
      ? { approval: { at: new Date(approval.at), by: approval.by, requestId: approval.rid } }
      : {}),
    ...(settledIn ? { settledIn } : {}),
    ...(adjustedIn ? { adjustedIn } : {}),
  }
}
