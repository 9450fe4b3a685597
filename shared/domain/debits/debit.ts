import type { BankIdentifier } from '../banks/bank.ts'
import type { Reference, Uuid } from '../ids.ts'
import type { Metadata } from '../metadata.ts'
import type { Pesewas } from '../money.ts'
import type { PhoneNumber } from '../phone.ts'
import type { ProviderId } from '../providers/provider.ts'
import { Refusal } from '../refusal.ts'
import type { BatchId } from '../settlement/batch.ts'
import { cut } from '../text.ts'
import type { DebitEventName } from '../webhooks/event-type.ts'
import { type Clocks, checkTransition, isOpen, type Status } from './lifecycle.ts'

/** error_details.code of a failed debit (specification, Event types). */
export type FailureCode =
  | 'insufficient_funds'
  | 'invalid_account'
  | 'transaction_declined'
  | 'timeout'
  | 'network_error'
  | 'unknown_error'

/** As a bank sends it; provider-side output shows `mobile_api` as `mobile_app`. */
export type ApprovalMethod = 'ussd' | 'mobile_api' | 'web' | 'direct'

/** What a charge fixes for ever. */
export type Facts = {
  reference: Reference
  uuid: Uuid
  provider: ProviderId
  partnerReference: string
  bank: { identifier: BankIdentifier; name: string }
  phone: PhoneNumber
  amount: Pesewas
  narration: string
  metadata: Metadata
  /** The UTC day whose total this debit counts in; absent for a provider without a daily limit. */
  countedOn?: string
}

/** What a move may add or replace. `metadata` is merged into what is there, key by key. */
export type Changes = {
  bankReference?: string
  approvalMethod?: ApprovalMethod
  fee?: Pesewas
  errorMessage?: string
  errorCode?: FailureCode
  customerName?: string
  accountNumber?: string
  metadata?: Metadata
}

/** One event of a debit and its audit record at once. Its number is its place in the history. */
export type Entry = Cause & { type: DebitEventName; changes: Changes }

export type Cause = {
  at: Date
  /** Who caused it: `provider:demo`, `bank:GCB`, `job:expire-debit`, `operator`. */
  by: string
  requestId: string
  /** The table's generation when the event was written (restore.ts). Absent: 1. */
  generation?: number | undefined
}

/** A debit: its facts, its history, and the two fields that every write is conditional on. */
export type Debit = {
  facts: Facts
  status: Status
  /** Counts writes, so that of two moves from one state the second finds another version. */
  version: number
  history: readonly Entry[]
  /** When and by whom the customer was reported to have approved; no event tells of it. */
  approval?: Cause
  /** The settlement batch that has its line. */
  settledIn?: BatchId
  /** The later batch that takes the line back, as the debit was reversed after its settlement. */
  adjustedIn?: BatchId
}

/** A debit as it stood after one of its events; what is not yet known is null. */
export type State = Facts & {
  status: DebitEventName
  previousStatus: DebitEventName | null
  bankReference: string | null
  approvalMethod: ApprovalMethod | null
  fee: Pesewas | null
  errorMessage: string | null
  errorCode: FailureCode | null
  customerName: string | null
  accountNumber: string | null
  createdAt: Date
  processedAt: Date | null
  completedAt: Date | null
  updatedAt: Date
}

/** Characters of a bank's error message that replies and webhooks show. */
const MESSAGE_SHOWN = 500

const lastOf = (debit: Debit): number => debit.history.length - 1

/**
 * Replays the history up to and with event `n` (default: the last).
 * Everything that replies and webhooks show comes from here, so an event can be told again, to
 * the byte, as long as the debit exists.
 */
export const stateAt = (debit: Debit, n: number = lastOf(debit)): State => {
  const entries = forwards(debit.history.slice(0, n + 1))
  const [first] = entries
  const last = entries[n]
  if (!first || !last) throw new Error(`Debit ${debit.facts.reference} has no event ${n}`)
  const known = entries.map(({ changes }) => changes)
  const atOf = (type: DebitEventName) => entries.find((entry) => entry.type === type)?.at ?? null
  const changes = Object.assign({}, ...known) as Changes
  return {
    ...debit.facts,
    bankReference: null,
    approvalMethod: null,
    fee: null,
    errorCode: null,
    customerName: null,
    accountNumber: null,
    ...changes,
    errorMessage:
      changes.errorMessage === undefined ? null : cut(changes.errorMessage, MESSAGE_SHOWN),
    metadata: merged([debit.facts.metadata, ...known.map((changes) => changes.metadata ?? {})]),
    status: last.type,
    previousStatus: entries.at(-2)?.type ?? null,
    createdAt: first.at,
    processedAt: atOf('processing'),
    completedAt: atOf('completed'),
    updatedAt: last.at,
  }
}

/** Two hosts' clocks never quite agree, and a history does not run backwards. */
const forwards = (history: readonly Entry[]): Entry[] => {
  let latest = new Date(0)
  return history.map((entry) => {
    if (entry.at > latest) latest = entry.at
    return { ...entry, at: latest }
  })
}

/** Later objects win, key by key at the top level; a key they do not name stays. */
export const merged = (layers: readonly Metadata[]): Metadata =>
  Object.fromEntries(layers.flatMap((layer) => Object.entries(layer)))

/** A new debit, with the two events that its charge causes. */
export const openDebit = (facts: Facts, cause: Cause): Debit => ({
  facts,
  status: 'pending',
  version: 1,
  history: [
    { type: 'created', ...cause, changes: {} },
    { type: 'pending', ...cause, changes: {} },
  ],
})

export type Transition = Cause & { to: Status; changes: Changes }

/**
 * The debit after a move; the very same object when it is there already (nothing is written).
 * @returns 3001 for a pair the lifecycle does not know
 */
export const advance = (debit: Debit, { to, changes, ...cause }: Transition): Debit | Refusal => {
  switch (checkTransition(debit.status, to)) {
    case 'same':
      return debit
    case 'refuse':
      return refuseTransition(debit.status, to)
    case 'move':
      return {
        ...debit,
        status: to,
        version: debit.version + 1,
        history: [...debit.history, { type: to as DebitEventName, ...cause, changes }],
      }
  }
}

const refuseTransition = (from: Status, to: string): Refusal =>
  new Refusal(3001, {
    http: 422,
    details: { status: [`cannot transition from ${from} to ${to}`] },
  })

/**
 * The debit after its customer approved: the five-minute clock stands still from here on. The very
 * same object when that was known.
 * @returns 3001 for a debit that is no longer open
 */
export const approve = (debit: Debit, cause: Cause): Debit | Refusal => {
  if (!isOpen(debit.status)) return refuseTransition(debit.status, 'approved')
  if (debit.approval) return debit
  return { ...debit, version: debit.version + 1, approval: cause }
}

/** The two clocks of an open debit. */
export type Phase = 'approval' | 'processing'

const after = (start: Date, seconds: number): Date => new Date(start.getTime() + seconds * 1000)

/** When a clock of this debit runs out; undefined when that clock does not run. */
export const deadline = (debit: Debit, phase: Phase, clocks: Clocks): Date | undefined => {
  if (!isOpen(debit.status)) return undefined
  const { createdAt, processedAt } = stateAt(debit)
  if (phase === 'processing') return after(createdAt, clocks.processingSeconds)
  return processedAt && !debit.approval ? after(processedAt, clocks.approvalSeconds) : undefined
}

/** The debit after one of its clocks ran out. */
export const timeOut = (debit: Debit, phase: Phase, cause: Cause): Debit | Refusal =>
  advance(debit, {
    ...cause,
    to: 'failed',
    changes: { errorMessage: TIMEOUT_MESSAGES[phase], errorCode: 'timeout' },
  })

/**
 * A debit as it most likely stands when its bank reports: accepted by the bank, and nothing more.
 * Good to judge a report by, as the write is conditional on it; never to be shown.
 */
export const assumeProcessing = (facts: Omit<Facts, 'metadata'>): Debit => {
  const unknown = { at: new Date(0), by: '', requestId: '', changes: {} }
  const types = ['created', 'pending', 'processing'] as const
  return {
    facts: { ...facts, metadata: {} },
    status: 'processing',
    version: 2,
    history: types.map((type) => ({ type, ...unknown })),
  }
}

/** What a debit fails with when a clock runs out (specification, Timeouts that change state). */
const TIMEOUT_MESSAGES: Record<Phase, string> = {
  approval: 'Transaction timeout',
  processing: 'Bank processing timeout',
}
