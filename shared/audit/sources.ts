import { createHash } from 'node:crypto'
import type { Approval } from '../domain/operator/approval.ts'
import type { Funding } from '../domain/settlement/funding.ts'
import { isWithin, type LedgerEntry } from '../domain/settlement/ledger-entry.ts'
import { reportFormats } from '../domain/settlement/list-query.ts'
import type { Day } from '../domain/time.ts'
import { spanOf } from '../ledger/day.ts'
import { entriesWithin, findBatchesWithin } from '../ledger/facts.ts'
import { openReport } from '../settlement/report/bucket.ts'
import { ACCESS_DAYS, accessItemsWithin } from '../store/operator/accesses.ts'
import { requestsWithin } from '../store/operator/approvals.ts'
import { changeItemsWithin } from '../store/operator/changes.ts'
import { listProviders } from '../store/providers/providers.ts'
import { retainedDays } from '../store/retention.ts'
import { listFundings } from '../store/settlement/funding.ts'
import type { AuditRecord } from './lines.ts'

/** The sealed records of a day (docs/audit.md). */

export type Source = {
  /** Yields the records of a UTC day; one that is written later is late. */
  records: (day: Day) => AsyncIterable<AuditRecord>
  /** Returns the days after which the table may have removed them; undefined: it never does. */
  keptDays?: () => number | undefined
}

/** Requests are decided within a day, and carried out within another call. */
const APPROVAL_DAYS = 2

/** Returns what happened to a request: an item of its own would be written once. */
const stepsOf = (approval: Approval): AuditRecord[] => {
  const { id, decision, requestedAt, decidedBy, decidedAt, reason, doneAt, refusal } = approval
  const { noun, verb, target, options, customer, object, scope, requestedBy, expiresAt } = approval
  const request = { noun, verb, target, options, customer, object, scope, expiresAt }
  return [
    { id: `${id}#requested`, at: requestedAt, by: requestedBy, ...request },
    ...(decidedAt ? [{ id: `${id}#decided`, at: decidedAt, by: decidedBy, decision, reason }] : []),
    ...(doneAt ? [{ id: `${id}#done`, at: doneAt, refusal }] : []),
  ]
}

/** By the time of the record, because the cash may have arrived on an earlier day. */
const fundingRecords = (funding: Funding): AuditRecord[] => {
  const { bank, reference, amount, date, recordedAt, recordedBy, corrections = [] } = funding
  const id = `${bank}#${reference}`
  return [
    { id, at: recordedAt, by: recordedBy, amount, date },
    ...corrections.map((correction, n) => ({ ...correction, id: `${id}#${n + 1}` })),
  ]
}

const entryId = ({ type, source }: LedgerEntry): string => `${type}#${source.type}#${source.id}`

const digestOf = async (body: AsyncIterable<Uint8Array> | undefined): Promise<string | null> => {
  if (!body) return null
  const digest = createHash('sha256')
  for await (const bytes of body) digest.update(bytes)
  return digest.digest('hex')
}

/** Yields the sums of each sealed batch, and the digests of its reports. */
async function* batchRecords(day: Day): AsyncGenerator<AuditRecord> {
  const span = spanOf(day)
  for (const provider of await listProviders()) {
    for (const batch of await findBatchesWithin(provider, span)) {
      const { id, date, sealedAt, totals } = batch
      // The sums are stored once the reports are.
      if (!sealedAt || !totals || !isWithin(sealedAt, span)) continue
      const reports: Record<string, string | null> = {}
      for (const format of reportFormats)
        reports[format] = await digestOf(await openReport(batch, format))
      yield { id, at: sealedAt, provider, date, totals, reports }
    }
  }
}

/** Yields the records of the day among those of each object. */
async function* ofDay<T>(
  day: Day,
  objects: AsyncIterable<T> | Iterable<T>,
  recordsOf: (object: T) => AuditRecord[],
): AsyncGenerator<AuditRecord> {
  const span = spanOf(day)
  for await (const object of objects) {
    for (const record of recordsOf(object)) if (isWithin(new Date(record.at), span)) yield record
  }
}

export const sources: Record<string, Source> = {
  changes: { records: (day) => changeItemsWithin(spanOf(day)) },
  accesses: {
    records: (day) => accessItemsWithin(spanOf(day)),
    // A day less than they live: a comparison may run while the first read of the day expires.
    keptDays: () => ACCESS_DAYS - 1,
  },
  approvals: { records: (day) => ofDay(day, requestsWithin(spanOf(day), APPROVAL_DAYS), stepsOf) },
  fundings: {
    records: async function* (day) {
      yield* ofDay(day, await listFundings(), fundingRecords)
    },
  },
  /** Without fundings: their entries have the day on which the cash arrived. */
  journal: {
    records: async function* (day) {
      for await (const entry of entriesWithin(spanOf(day))) yield { id: entryId(entry), ...entry }
    },
    // Completions, fees and payouts stay in lines and batches; refunds and exceptions expire.
    keptDays: retainedDays,
  },
  batches: { records: batchRecords },
}
