import type { BankIdentifier } from '../banks/bank.ts'
import type { FailureCode } from '../banks/failure-code.ts'
import type { BatchId, ChunkId, Reference, Uuid } from '../ids.ts'
import type { Metadata } from '../metadata.ts'
import type { Pesewas } from '../money.ts'
import type { PhoneNumber } from '../phone.ts'
import type { ProviderId } from '../providers/provider.ts'
import { Refusal } from '../refusal.ts'
import { cut } from '../text.ts'
import { secondsAfter } from '../time.ts'
import {
  checkTransition,
  type DebitEventName,
  isOpen,
  isUnsubmitted,
  type Status,
} from './lifecycle.ts'
import type { Clocks } from './timeouts.ts'

/** Providers see `mobile_api` as `mobile_app` (docs/api.md#approval-methods). */
export type ApprovalMethod = 'ussd' | 'mobile_api' | 'web' | 'direct'

/** The fields of a debit that never change. Those of the customer are null after an erasure. */
export type Facts = {
  reference: Reference
  uuid: Uuid
  provider: ProviderId
  /** At the charge: a later name never changes what the customer was asked to pay. */
  providerName: string
  partnerReference: string
  bank: { identifier: BankIdentifier; name: string }
  phone: PhoneNumber | null
  amount: Pesewas
  narration: string | null
  metadata: Metadata
  /** The UTC day whose total counts this debit; absent without a daily limit. */
  countedOn?: string
}

/** Facts with their customer. */
export type WholeFacts = Facts & { phone: PhoneNumber; narration: string }

export const isWhole = (facts: Facts): facts is WholeFacts =>
  facts.phone !== null && facts.narration !== null

/** Returns the facts of a debit that no erasure has reached, such as an open one. */
export const wholeFacts = ({ facts }: Pick<Debit, 'facts'>): WholeFacts => {
  if (!isWhole(facts)) throw new Error(`The customer of ${facts.reference} was erased`)
  return facts
}

/** The fields that a transition adds or replaces. `metadata` is merged key by key. */
export type Changes = {
  bankReference?: string
  approvalMethod?: ApprovalMethod
  fee?: Pesewas
  errorMessage?: string
  errorCode?: FailureCode
  customerName?: string
  accountNumber?: string
  /** A reversal that returns no money, because the bank never debited the customer. */
  refund?: 'none'
  metadata?: Metadata
}

/** An event of a debit and its audit record. Its number is its index in the history. */
export type Entry = Cause & { type: DebitEventName; changes: Changes }

export type Cause = {
  at: Date
  /** The actor: `provider:demo`, `bank:GCB`, `job:expire-debit`, `operator`. */
  by: string
  requestId: string
  /** The generation of the table when the event was written (docs/api.md#restores). Absent: 1. */
  generation?: number | undefined
}

/** A debit: facts, history, and `status` and `version`, which condition every write. */
export type Debit = {
  facts: Facts
  status: Status
  /** Counts writes: the optimistic lock. */
  version: number
  history: readonly Entry[]
  /** The report of the customer's approval, and the provider's request to reverse: neither is an event. */
  approval?: Cause
  reversalRequest?: Cause
  /** The settlement batch that has its line, and the chunk of it. */
  settledIn?: BatchId
  settledChunk?: ChunkId
  /** The later batch that has its adjustment, if the debit was reversed after settlement. */
  adjustedIn?: BatchId
  adjustedChunk?: ChunkId
  /** The customer was erased (erasure.ts). */
  erasedAt?: Date
}

/** A debit after one of its events; fields that are not known yet are null. */
export type State = Omit<Facts, 'metadata'> & {
  metadata: Metadata | null
  status: DebitEventName
  previousStatus: DebitEventName | null
  bankReference: string | null
  approvalMethod: ApprovalMethod | null
  fee: Pesewas | null
  errorMessage: string | null
  errorCode: FailureCode | null
  customerName: string | null
  accountNumber: string | null
  refund: 'none' | null
  createdAt: Date
  processedAt: Date | null
  completedAt: Date | null
  updatedAt: Date
}

/** Characters of a bank's error message that replies and webhooks show. */
const MESSAGE_SHOWN = 500

const lastOf = (debit: Debit): number => debit.history.length - 1

/**
 * Replays the history up to and including event `n` (default: the last). Replies and webhooks show
 * nothing else, so an event can be published again byte for byte.
 */
export const stateAt = (debit: Debit, n: number = lastOf(debit)): State => {
  const { facts, history } = debit
  const last = history[n]
  if (!last) throw new Error(`Debit ${facts.reference} has no event ${n}`)
  const changes: Changes = {}
  const metadata = [facts.metadata]
  // Monotonic times, because the clocks of hosts differ.
  let latest = new Date(0)
  const firstTimes: Partial<Record<DebitEventName, Date>> = {}
  for (const entry of history.slice(0, n + 1)) {
    if (entry.at > latest) latest = entry.at
    firstTimes[entry.type] ??= latest
    Object.assign(changes, entry.changes)
    if (entry.changes.metadata) metadata.push(entry.changes.metadata)
  }
  return {
    ...facts,
    bankReference: null,
    approvalMethod: null,
    fee: null,
    errorCode: null,
    customerName: null,
    accountNumber: null,
    refund: null,
    ...changes,
    errorMessage:
      changes.errorMessage === undefined ? null : cut(changes.errorMessage, MESSAGE_SHOWN),
    metadata: debit.erasedAt && metadata.length === 1 ? null : merged(metadata),
    status: last.type,
    previousStatus: history[n - 1]?.type ?? null,
    createdAt: firstTimes.created ?? latest,
    processedAt: firstTimes.processing ?? null,
    completedAt: firstTimes.completed ?? null,
    updatedAt: latest,
  }
}

/** Merges objects key by key at the top level; later ones win. */
export const merged = (layers: readonly Metadata[]): Metadata =>
  Object.fromEntries(layers.flatMap((layer) => Object.entries(layer)))

export const openDebit = (facts: Facts, cause: Cause): Debit => ({
  facts,
  status: 'pending',
  version: 1,
  history: [
    { type: 'created', ...cause, changes: {} },
    { type: 'pending', ...cause, changes: {} },
  ],
})

/** Reports whether a debit was charged before the restore of a generation, which may have undone its later events. */
export const predatesRestore = (
  { history: [created] }: Pick<Debit, 'history'>,
  generation = 1,
): boolean => (created?.generation ?? 1) < generation

export type Transition = Cause & { to: Status; changes: Changes }

/** @returns the same object for the same status, 422/3001 for a forbidden transition */
export const advance = (debit: Debit, { to, changes, ...cause }: Transition): Debit | Refusal => {
  switch (checkTransition(debit.status, to)) {
    case 'unchanged':
      return debit
    case 'refused':
      return refuseTransition(debit.status, to)
    case 'allowed':
      return {
        ...debit,
        status: to,
        version: debit.version + 1,
        history: [...debit.history, { type: to, ...cause, changes }],
      }
  }
}

export const refuseTransition = (from: Status, to: string): Refusal =>
  new Refusal(3001, { http: 422, details: { status: [`cannot transition from ${from} to ${to}`] } })

/**
 * Applies the customer's approval, which stops the five-minute timeout. Returns the same object if it
 * was already reported.
 * @returns 422/3001 for a debit that is no longer open
 */
export const approve = (debit: Debit, cause: Cause): Debit | Refusal => {
  if (!isOpen(debit.status)) return refuseTransition(debit.status, 'approved')
  if (debit.approval) return debit
  return { ...debit, version: debit.version + 1, approval: cause }
}

/** The two timeouts of an open debit (docs/api.md#timeouts). */
export type Phase = 'approval' | 'processing'

/** Returns the time of a timeout; undefined when it does not apply. */
export const deadline = (debit: Debit, phase: Phase, clocks: Clocks): Date | undefined => {
  if (!isOpen(debit.status)) return undefined
  const { createdAt, processedAt } = stateAt(debit)
  if (phase === 'processing') return secondsAfter(createdAt, clocks.processingSeconds)
  return processedAt && !debit.approval
    ? secondsAfter(processedAt, clocks.approvalSeconds)
    : undefined
}

/** Reports whether a debit waits for its submission and has three minutes left (docs/api.md#timeouts). */
export const mayBeSubmitted = (debit: Debit, at: Date, clocks: Clocks): boolean =>
  isUnsubmitted(debit.status) &&
  at < secondsAfter(stateAt(debit).createdAt, clocks.submissionSeconds)

export const timeOut = (debit: Debit, phase: Phase, cause: Cause): Debit | Refusal =>
  advance(debit, {
    ...cause,
    to: 'failed',
    changes: { errorMessage: TIMEOUT_MESSAGES[phase], errorCode: 'timeout' },
  })

const TIMEOUT_MESSAGES: Record<Phase, string> = {
  approval: 'Transaction timeout',
  processing: 'Bank processing timeout',
}
