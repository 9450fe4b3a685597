import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import type { Facts } from '../../../shared/domain/debits/debit.ts'
import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import type { DebitEventName, Status } from '../../../shared/domain/debits/lifecycle.ts'
import type { RefundStatus } from '../../../shared/domain/debits/refund.ts'
import type { BatchStatus } from '../../../shared/domain/settlement/batch.ts'
import type { FailureCause } from '../../../shared/domain/webhooks/attempt.ts'
import type { DeliveryStatus } from '../../../shared/domain/webhooks/delivery.ts'
import type { RawChunk } from './raw-lines.ts'

/**
 * Stored items, declared independently of the product, so that the checks do not share its
 * mistakes.
 */

type RawSet = {
  bankReference?: string
  approvalMethod?: string
  fee?: number
  errorMessage?: string
  errorCode?: string
  customerName?: string
  accountNumber?: string
  /** Of a reversal that returns no money. */
  refund?: 'none'
  metadata?: string
}

type RawEntry = {
  type: DebitEventName
  at?: number
  by?: string
  rid?: string
  gen?: number
  set?: RawSet
}

/** An item has any member: this type is an error unless it lists each fact. */
type Listing<Names extends string, Members extends Record<Names, unknown>> = Members

type RawFacts = Listing<
  // The uuid follows from the reference.
  Exclude<keyof Facts, 'uuid'>,
  {
    reference: string
    provider: string
    partnerReference: string
    bank: { identifier: string; name: string }
    phone: string
    amount: number
    narration: string
    metadata: string | undefined
    countedOn: string | undefined
  }
>

export type RawDebit = Item &
  RawFacts & {
    status: Status
    version: number
    history: readonly RawEntry[]
    approval?: { rid: string }
    /** `<batch>#<chunk>`. */
    settledIn?: string
    adjustedIn?: string
  }

type RawClaim = Item & { reference: string }

export type RawDayTotal = Item & { amountTotal: number }

export type RawAttempt = {
  id: string
  number: number
  at: string
  milliseconds: number
  responseCode: number | null
  cause: FailureCause | null
}

export type RawDelivery = Item & {
  reference: string
  n: number
  provider: string
  event: string
  occurredAt: string
  status: DeliveryStatus
  attemptCount: number
  attemptsMax: number
  last: RawAttempt | null
  nextAttemptAt: string | null
  deliveredAt: string | null
  failedAt: string | null
  reason: number | null
  autoRetries: number
}

/** The events of a charge that were delivered at the first attempt. */
export type RawReceipt = Item & {
  reference: string
  provider: string
  events: readonly {
    n: number
    event: string
    occurredAt: string
    attemptsMax: number
    attempt: Omit<RawAttempt, 'number' | 'cause'>
  }[]
}

type RawPastAttempt = Item & { n: number; attempt: RawAttempt }

export type RawTotals = Record<'count' | 'debits' | 'gross' | 'fee' | 'adjustments' | 'net', number>

export type RawBatch = Item & {
  id: string
  uuid: string
  provider: string
  date: string
  n: number
  status: BatchStatus
  createdAt: string
  sealedAt: string | null
  totals: RawTotals | null
  reportedAt: string | null
  processedAt: string | null
  completedAt: string | null
  completedGeneration?: number
  failedAt: string | null
  failure: string | null
  bankReference: string | null
  feeSchedule:
    | (Record<'basisPoints' | 'fixed', number> & { minimum?: number; maximum?: number })
    | null
  paid: number | null
  paidTo: { bank: string; accountNumber: string; accountName: string } | null
  offsets: readonly { batch: string; amount: number }[]
  outstanding: number
  offsetBy: string | null
}

export type RawException = Item & {
  reference: string
  kind: ExceptionKind
  provider: string
  bank: string
  amount: number
  requestId: string
  at: string
  resolvedAt?: string
  report: string
}

export type RawRefund = Item & {
  uuid: string
  reference: string
  provider: string
  bank: string
  amount: number
  status: RefundStatus
  createdAt: string
  completedAt: string | null
}

type RawRun = Item & { id: string; startedAt: string; openParts: number; endedAt: string | null }

type RawPart = Item & { run: string; findings?: string }

type RawFeedPage = Item & { entries: readonly string[] }

export type RawItems = {
  debit: RawDebit
  claim: RawClaim
  'day total': RawDayTotal
  delivery: RawDelivery
  receipt: RawReceipt
  attempt: RawPastAttempt
  exception: RawException
  refund: RawRefund
  batch: RawBatch
  lines: RawChunk
  'feed-page': RawFeedPage
  reconciliation: RawRun
  'reconciliation-part': RawPart
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
export const kindOf = ({ entity, sk }: Item): Kind => {
  if (ENTITIES.has(entity)) return entity as Kind
  if (sk === 'PARTNER_REFERENCE') return 'claim'
  return sk.startsWith('DAY#') ? 'day total' : 'another'
}

export type ChangeOf<T extends Item> = Omit<Change, 'before' | 'after'> & {
  before: T | undefined
  after: T | undefined
}

/** Returns the change that recorded the start of a payout or refund under a key. */
export const beginOf = <T extends RawBatch | RawRefund>(
  changes: readonly ChangeOf<T>[],
  key: string,
): ChangeOf<T> | undefined =>
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
  const entries: Entry[] = []
  let before: Entry | undefined
  for (const { type, at, by, rid, gen = 1, set = {} } of history) {
    const writtenAt = at ?? before?.writtenAt ?? 0
    before = {
      type,
      at: Math.max(writtenAt, before?.at ?? 0),
      writtenAt,
      by: by ?? before?.by ?? '',
      rid: rid ?? before?.rid ?? '',
      gen,
      set,
    }
    entries.push(before)
  }
  return entries
}

export const ownerIn = (pk: string): string => pk.slice(pk.indexOf('#') + 1)
