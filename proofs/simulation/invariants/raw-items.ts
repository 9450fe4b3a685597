import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import type { Changes, Facts } from '../../../shared/domain/debits/debit.ts'
import type { ExceptionKind, ReportException } from '../../../shared/domain/debits/exception.ts'
import type { DebitEventName, Status } from '../../../shared/domain/debits/lifecycle.ts'
import type { Refund } from '../../../shared/domain/debits/refund.ts'
import type { Batch } from '../../../shared/domain/settlement/batch.ts'
import type { Funding } from '../../../shared/domain/settlement/funding.ts'
import type { Attempt } from '../../../shared/domain/webhooks/attempt.ts'
import type { Delivery } from '../../../shared/domain/webhooks/delivery.ts'

/** Stored items. Their values are read independently of the product, so that the checks do not share its mistakes. */

/** Of the product's types: times are texts, and texts and numbers are any of their kind. */
type Stored<T> = T extends Date
  ? string
  : T extends number
    ? number
    : T extends string
      ? [keyof T] extends [keyof string]
        ? T
        : string
      : { [K in keyof T]: Stored<T[K]> }

type RawSet = Stored<Omit<Changes, 'metadata'>> & { metadata?: string }

type RawEntry = Pick<Entry, 'type'> & Partial<Pick<Entry, 'at' | 'by' | 'rid' | 'gen' | 'set'>>

/** The uuid follows from the reference; a debit of an earlier release has no name of its provider. */
type RawFacts = Stored<
  Omit<Facts, 'uuid' | 'providerName' | 'metadata' | 'phone' | 'narration'>
> & { providerName?: string; phone: string; narration: string; metadata?: string }

export type RawDebit = Item &
  RawFacts & {
    status: Status
    version: number
    history: readonly RawEntry[]
    approval?: { rid: string }
    reversalRequest?: { rid: string }
    /** `<batch>#<chunk>`. */
    settledIn?: string
    adjustedIn?: string
  }

export type RawDayTotal = Item & { amountTotal: number }

export type RawAttempt = Stored<Attempt>

export type RawDelivery = Item & Stored<Delivery>

/** The events of a charge that were delivered at the first attempt. */
export type RawReceipt = Item & {
  reference: string
  provider: string
  events: readonly {
    n: number
    event: RawDelivery['event']
    occurredAt: string
    attemptsMax: number
    attempt: Omit<RawAttempt, 'number' | 'cause'>
  }[]
}

export type RawBatch = Item & Stored<Batch>

export type RawException = Item & Stored<ReportException> & { kind: ExceptionKind }

export type RawRefund = Item & Stored<Refund>

export type RawFunding = Item & Stored<Funding>

/** Returns the name for the customer: a provider of an earlier release has only its id. */
export const payeeOf = (item: { provider: string; providerName?: string }): string =>
  item.providerName ?? item.provider

export type RawItems = {
  debit: RawDebit
  claim: Item & { reference: string }
  'day total': RawDayTotal
  delivery: RawDelivery
  receipt: RawReceipt
  attempt: Item & { n: number; attempt: RawAttempt }
  exception: RawException
  refund: RawRefund
  batch: RawBatch
  lines: RawChunk
  'feed-page': Item & { entries: readonly string[] }
  reconciliation: Item & {
    id: string
    startedAt: string
    openParts: number
    endedAt: string | null
  }
  'reconciliation-part': Item & { run: string; findings?: string }
  'webhook-health': Item
  another: Item
}

export type Kind = keyof RawItems

const ENTITIES = new Set<unknown>(
  [
    'debit delivery receipt attempt exception refund batch lines feed-page webhook-health',
    'reconciliation reconciliation-part',
  ].flatMap((names) => names.split(' ')),
)

/** Claims and day totals have no `entity`. */
export const kindOf = ({ entity, pk, sk }: Item): Kind => {
  if (ENTITIES.has(entity)) return entity as Kind
  if (sk === 'PARTNER_REFERENCE') return 'claim'
  // Windows count the use of an endpoint by days.
  return sk.startsWith('DAY#') && !pk.startsWith('WINDOW#') ? 'day total' : 'another'
}

/** Whether a debit, refund or exception has something to follow. */
export const isUnended = (item: Item): boolean => {
  const { status, settledIn, adjustedIn } = item as Item & Partial<RawDebit>
  const isOpen = status === 'pending' || status === 'processing'
  const isUnsettled = status === 'completed' && !settledIn
  const isUnadjusted = status === 'reversed' && settledIn !== undefined && !adjustedIn
  const unended: Partial<Record<Kind, boolean>> = {
    debit: isOpen || isUnsettled || isUnadjusted,
    refund: isOpen,
    exception: !('resolvedAt' in item),
  }
  return unended[kindOf(item)] === true
}

export type ChangeOf<T extends Item> = Omit<Change, 'before' | 'after'> & {
  before: T | undefined
  after: T | undefined
}

type Moved = { before: { status?: unknown } | undefined; after: { status?: unknown } | undefined }

export const movesTo = <C extends Moved>(changes: readonly C[], status: unknown): C[] =>
  changes.filter(({ before, after }) => after?.status === status && before?.status !== status)

/** Returns the change that recorded the start of a payout or refund under a key. */
export const beginOf = <C extends ChangeOf<RawBatch> | ChangeOf<RawRefund>>(
  changes: readonly C[],
  key: string,
): C | undefined =>
  changes.find(({ after }) => after?.uuid === key && after.status === 'processing')

/** A history entry, completed with the values of the previous one. */
export type Entry = {
  type: DebitEventName
  /** As published: times never decrease, though clocks differ. */
  at: number
  writtenAt: number
  by: string
  rid: string
  gen: number
  set: RawSet
}

export const entriesOf = ({ history }: RawDebit): Entry[] => {
  let last: Entry = { type: 'created', at: 0, writtenAt: 0, by: '', rid: '', gen: 1, set: {} }
  return history.map(({ type, at: writtenAt = last.writtenAt, by = last.by, ...entry }) => {
    const at = Math.max(writtenAt, last.at)
    const { rid = last.rid, gen = 1, set = {} } = entry
    last = { type, at, writtenAt, by, rid, gen, set }
    return last
  })
}

/** Reports whether an entry is the failure of a debit above the cap of prompts, which was not submitted. */
export const isRefusal = ({ by, set }: Pick<Entry, 'by' | 'set'>): boolean =>
  by === 'job:submit-to-bank' && set.errorMessage === 'Too many approval requests for this customer'

export const ownerIn = (pk: string): string => pk.slice(pk.indexOf('#') + 1)

/** Returns the batch of `settledIn` or `adjustedIn`. */
export const batchIn = (place: string | undefined): string | undefined => place?.split('#')[0]

/** The lines of one transaction: rows of JSON, one per line of text. */
export type RawChunk = Item & { debits?: string; adjustments?: string }

export type RawLine = { type: string; reference: string; gross: number; fee: number } & {
  partnerReference: string
  bankReference: string | null
  completedAt: number
}

export const linesIn = ({ debits = '', adjustments = '' }: RawChunk): RawLine[] =>
  Object.entries({ debit: debits, adjustment: adjustments }).flatMap(([type, text]) =>
    text.split('\n').flatMap((row): RawLine[] => {
      const [reference, partnerReference, bankReference, , completedAt, gross, fee] = row
        ? JSON.parse(row)
        : []
      const members = { type, reference, partnerReference, bankReference, completedAt, gross, fee }
      return reference ? [members] : []
    }),
  )
