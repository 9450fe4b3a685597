import { isDeepStrictEqual } from 'node:util'
import type { batchView } from '../../../shared/views/batch.ts'
import type { refundView } from '../../../shared/views/refund.ts'
import type { transactionView } from '../../../shared/views/transaction.ts'
import { eventExpectations } from './lifecycle.ts'
import type { DebitHistory } from './observation-index.ts'
import type { Entry, RawBatch, RawDelivery, RawException, RawRefund } from './raw-items.ts'
import { debitNumber, derivedUuid, eventNumber, inGhs, SETTLED, uuidOf } from './time-and-money.ts'

/** The expected payloads, computed from raw items. A new member of a view has no value here yet. */

/** All members of a view, with values of our own. */
type Members<View extends (...args: never) => object> = Record<keyof ReturnType<View>, unknown>

const iso = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

const ghs = (amount: number): number => Number(inGhs(amount))

const ghsOrNull = (amount: number | null | undefined) => (amount == null ? null : ghs(amount))

const METHODS: Record<string, string> = { mobile_api: 'mobile_app' }

/** Returns what a part of a history has set. */
const setBy = (past: readonly Entry[]): Entry['set'] =>
  Object.assign({}, ...past.map((entry) => entry.set))

export const eventOf = ({ item, entries }: DebitHistory, n: number) => {
  const past = entries.slice(0, n + 1)
  const last = past[n]
  const adds = last && eventExpectations[last.type].adds
  const set = setBy(past)
  const atOf = (type: string) => iso(past.find((entry) => entry.type === type)?.at)
  const layers = [item.metadata, ...past.map((entry) => entry.set.metadata)]
  const metadata = Object.assign({}, ...layers.map((text) => (text ? JSON.parse(text) : {})))
  const method = set.approvalMethod
  const transaction: Members<typeof transactionView> = {
    id: `dt_${debitNumber(item.reference)}`,
    uuid: uuidOf(item.reference),
    reference: item.reference,
    partner_reference: item.partnerReference,
    status: last?.type,
    amount: ghs(item.amount),
    currency: 'GHS',
    fee: ghsOrNull(set.fee),
    narration: item.narration,
    approval_method: METHODS[method ?? ''] ?? method ?? null,
    bank_reference: set.bankReference ?? null,
    error_message: set.errorMessage ?? null,
    created_at: iso(past[0]?.at),
    processed_at: atOf('processing'),
    completed_at: atOf('completed'),
    bank: { name: item.bank.name, identifier: item.bank.identifier, country_code: 'GH' },
    customer: {
      name: set.customerName ?? null,
      phone_number: item.phone,
      account_number: set.accountNumber ? `*********${set.accountNumber.slice(-4)}` : null,
    },
  }
  const refund: Members<typeof refundView> = {
    uuid: derivedUuid(`refund#${item.reference}#1`),
    status: 'pending',
    amount: ghs(item.amount),
    currency: 'GHS',
    reason: metadata.reversal_reason,
    bank_reference: null,
    error_message: null,
    created_at: iso(last?.at),
    processed_at: null,
    completed_at: null,
    failed_at: null,
  }
  const shown = set.refund === 'none' ? null : refund
  return {
    event: `transaction.${last?.type}`,
    event_id: `evt_${eventNumber(item.reference, n, last?.gen)}`,
    timestamp: iso(last?.at),
    api_version: 'v1',
    sequence: n + 10 * ((last?.gen ?? 1) - (past[0]?.gen ?? 1)),
    data: {
      transaction,
      previous_status: past[n - 1]?.type ?? null,
      metadata,
      error_details:
        adds === 'error_details' ? { message: set.errorMessage, code: set.errorCode } : undefined,
      refund: adds === 'refund' ? shown : undefined,
    },
  }
}

/** What its provider reads of a debit after an event: amounts are texts. */
export const readOf = (debit: DebitHistory, n: number) => {
  const { transaction, metadata, error_details = null } = eventOf(debit, n).data
  const fee = transaction.fee === null ? null : Number(transaction.fee).toFixed(2)
  const read = { ...transaction, amount: inGhs(debit.item.amount), fee, metadata, error_details }
  const { uuid, status, processed_at, completed_at, bank_reference } = read
  const times = { timestamp: iso(debit.entries[n]?.at), processed_at, completed_at }
  const { approval_method, error_message } = read
  const reasons = { bank_reference, approval_method, error_message, error_details }
  return { ...read, response: { uuid, status, ...times, ...reasons } }
}

/** What is read of a refund with a debit; a reversal without one shows none. */
export const refundReadOf = (refund: RawRefund): Members<typeof refundView> | null => {
  if (refund.status === 'waived') return null
  return {
    uuid: refund.uuid,
    status: refund.status,
    amount: inGhs(refund.amount),
    currency: 'GHS',
    reason: refund.reason,
    bank_reference: refund.bankReference,
    error_message: refund.failure || null,
    created_at: refund.createdAt,
    processed_at: refund.processedAt,
    completed_at: refund.completedAt,
    failed_at: refund.failedAt,
  }
}

/** What its bank reads of a debit. */
export const bankReadOf = (debit: DebitHistory, n: number) => {
  const { transaction, metadata } = eventOf(debit, n).data
  const { accountNumber = null, approvalMethod = null } = setBy(debit.entries.slice(0, n + 1))
  const customer = { ...(transaction.customer as object), account_number: accountNumber }
  const id = debitNumber(debit.item.reference)
  return { ...transaction, id, metadata, customer, approval_method: approvalMethod }
}

/** What operators read of a debit: no name, and a part of the number. */
export const operatorReadOf = (debit: DebitHistory, n: number) => {
  const { response: _, customer: _customer, ...read } = readOf(debit, n)
  const { provider, bank, phone } = debit.item
  const { error_details: _details, metadata: _metadata, ...shown } = read
  const hidden = `${phone.slice(0, 4)}*****${phone.slice(-4)}`
  return { ...shown, provider, bank: bank.identifier, phone_number: phone && hidden }
}

export const deliveryReadOf = (delivery: RawDelivery) => ({
  reference: delivery.reference,
  event: delivery.event === 'settled' ? 'settlement.completed' : `transaction.${delivery.event}`,
  event_id: `evt_${eventNumber(delivery.reference, delivery.n, delivery.generation)}`,
  status: delivery.status,
  attempt_count: delivery.attemptCount,
  max_attempts: delivery.attemptsMax,
  response_code: delivery.last?.responseCode ?? null,
  response_body: delivery.last?.responseBody ?? null,
  next_attempt_at: delivery.nextAttemptAt,
  delivered_at: delivery.deliveredAt,
  failed_at: delivery.failedAt,
})

export const exceptionReadOf = (exception: RawException) => ({
  reference: exception.reference,
  kind: exception.kind,
  at: exception.at,
  provider: exception.provider,
  bank: exception.bank,
  amount: inGhs(exception.amount),
  debit_status: exception.status ?? null,
  code: exception.code ?? null,
  report: exception.report,
  reported_by: exception.by,
  request_id: exception.requestId,
  resolved_at: exception.resolvedAt ?? null,
  resolved_by: exception.resolvedBy ?? null,
  note: exception.note ?? null,
})

/** What is read of a batch, with amounts as texts or numbers. */
export const batchOf = (batch: RawBatch, form: (amount: number) => unknown = inGhs) => {
  const amountOf = (amount: number | null | undefined) => (amount == null ? null : form(amount))
  const { totals, feeSchedule } = batch
  return {
    id: batch.id,
    uuid: batch.uuid,
    provider: batch.provider,
    currency: 'GHS',
    date: batch.date,
    status: batch.status,
    count: totals?.count ?? null,
    debits: totals?.debits ?? null,
    gross: amountOf(totals?.gross),
    fee: amountOf(totals?.fee),
    adjustments: amountOf(totals?.adjustments),
    net: amountOf(totals?.net),
    fee_schedule: feeSchedule && {
      basis_points: feeSchedule.basisPoints,
      fixed: form(feeSchedule.fixed),
      minimum: amountOf(feeSchedule.minimum),
      maximum: amountOf(feeSchedule.maximum),
    },
    created_at: batch.createdAt,
    sealed_at: batch.sealedAt,
    payable_on: batch.sealedAt && batch.payOn,
    processed_at: batch.processedAt,
    completed_at: batch.completedAt,
    failed_at: batch.failedAt,
    failure: batch.failure,
    bank_reference: batch.bankReference,
    paid: amountOf(batch.paid),
    made_good_by: batch.offsetBy,
  } satisfies Members<typeof batchView>
}

export const settledEventOf = (batch: RawBatch) => ({
  event: 'settlement.completed',
  event_id: `evt_${eventNumber(batch.id, SETTLED, batch.completedGeneration)}`,
  timestamp: batch.completedAt,
  api_version: 'v1',
  sequence: 0,
  data: { settlement: { ...batchOf(batch, ghs), status: 'completed' } },
})

const differingIn = (name: string, actual: unknown, expected: unknown): string | undefined => {
  const isObject = typeof expected === 'object' && expected !== null
  // Metadata is of the provider and its banks.
  if (!isObject || name === 'metadata')
    return isDeepStrictEqual(actual, expected) ? undefined : name
  return typeof actual === 'object' && actual !== null ? differing(actual, expected) : name
}

export const differing = (actual: object, expected: object): string | undefined => {
  const values = new Map(Object.entries(expected))
  for (const [name, member] of Object.entries({ ...expected, ...actual })) {
    const wrong = differingIn(name, name in actual ? member : undefined, values.get(name))
    if (wrong) return wrong
  }
  return undefined
}
