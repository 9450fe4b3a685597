import * as v from 'valibot'
import { cursorFor, listHash } from '../../shared/api/pagination.ts'
import { Bank, CustomerAccount } from '../../shared/domain/banks/bank.ts'
import { type Complete, defined } from '../../shared/domain/complete.ts'
import { requestOf } from '../../shared/domain/debits/charge.ts'
import {
  advance,
  type Changes,
  type Debit,
  openDebit,
  type WholeFacts,
} from '../../shared/domain/debits/debit.ts'
import type { DebitEventName, Status } from '../../shared/domain/debits/lifecycle.ts'
import { reversalRefund } from '../../shared/domain/debits/refund.ts'
import { openRequest as newRequest } from '../../shared/domain/debits/reversal-request.ts'
import { BatchId, debitUuid, Reference, Uuid } from '../../shared/domain/ids.ts'
import { formatAmount, pesewas } from '../../shared/domain/money.ts'
import { PhoneNumber } from '../../shared/domain/phone.ts'
import { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { addLine, noTotals, openBatch, withTotals } from '../../shared/domain/settlement/batch.ts'
import { debitLine } from '../../shared/domain/settlement/line.ts'
import { endPayment } from '../../shared/domain/settlement/payment.ts'
import { Day, startOf } from '../../shared/domain/time.ts'
import { ATTEMPT_ID_BYTES, attemptId } from '../../shared/domain/webhooks/attempt.ts'
import { newDelivery, recordAttempt } from '../../shared/domain/webhooks/delivery.ts'

/** The objects of all examples, which follow from one debit. */

export const NOON = new Date('2026-11-21T12:00:00.000Z')

/** The request of all examples. */
export const exampleContext = {
  requestId: 'JHbGLHXXoAMF1Tw=',
  at: NOON,
  rate: { limit: 0, remaining: 0, reset: 0, exceeded: false },
}

/** The headers of a signed request, well-formed but not verifiable. */
export const exampleSignature = {
  signature: '5d1c9f04b6a7e2380c4d5b19f7e6a8033b2a1c5d4e6f70819a0b2c3d4e5f6071',
  timestamp: String(NOON.getTime() / 1000),
}

export const secondsLater = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000)

export const gcb = v.parse(Bank, {
  identifier: 'GCB',
  name: 'GCB Bank PLC',
  countryCode: 'GH',
  status: 'live',
  connector: 'sandbox',
  connectorType: 'both',
  ussdCode: '*422#',
  packageName: 'com.gcb.mobile',
})

export const account = v.parse(CustomerAccount, {
  customerName: 'Ama Mensah',
  accountNumber: '1041001001',
  accountType: 'savings',
  status: 'active',
})

export const demo = v.parse(ProviderId, 'demo')
export const phone = v.parse(PhoneNumber, '+233241234567')

const reference = v.parse(Reference, 'DCS-20261121-ABC123')

const facts = defined<Complete<WholeFacts>>({
  reference,
  uuid: debitUuid(reference),
  provider: demo,
  providerName: 'Demo Payments',
  partnerReference: 'order-1',
  bank: { identifier: gcb.identifier, name: gcb.name },
  phone,
  amount: pesewas(100_00),
  narration: 'Order 1',
  metadata: { cart: 77 },
  countedOn: undefined,
})

export const pending = openDebit(facts, { at: NOON, by: 'provider:demo', requestId: 'example' })

/** The body of the charge. */
export const exampleCharge = { ...requestOf(facts), amount: formatAmount(facts.amount) }

const transitioned = (debit: Debit, to: Status, seconds: number, changes: Changes): Debit => {
  const cause = { at: secondsLater(seconds), by: 'bank:GCB', requestId: 'example' }
  const next = advance(debit, { ...cause, to, changes })
  if (next instanceof Refusal) throw new Error(`The example cannot become ${to}`)
  return next
}

export const processing = transitioned(pending, 'processing', 1, {
  bankReference: 'GCB-0001',
  customerName: account.customerName,
  accountNumber: account.accountNumber,
})

export const completed = transitioned(processing, 'completed', 30, {
  approvalMethod: 'ussd',
  fee: pesewas(1_50),
})

export const failed = transitioned(processing, 'failed', 30, {
  errorMessage: 'Insufficient funds',
  errorCode: 'insufficient_funds',
})

const reversed = transitioned(completed, 'reversed', 86_400, {
  metadata: { reversal_reason: 'Goods returned' },
})

/** A request of the provider to reverse the debit, open and declined. */
export const openRequest = newRequest(completed, {
  kind: 'refund',
  reason: 'Order 1 was cancelled',
  cause: { at: secondsLater(3_600), by: 'provider:demo', requestId: 'example' },
  holidays: new Set(),
})
export const declinedRequest = {
  ...openRequest,
  resolvedAt: secondsLater(7_200).toISOString(),
  resolvedBy: 'ama',
  note: 'The goods were delivered',
  isAccepted: false,
}

/** The meaning of each event, a debit that has it, and its number. */
export const exampleEvents: Record<DebitEventName, { summary: string; debit: Debit; n: number }> = {
  created: { summary: 'A charge was accepted', debit: completed, n: 0 },
  pending: { summary: 'The debit waits for submission to the bank', debit: completed, n: 1 },
  processing: {
    summary: 'The bank accepted the debit and asks the customer for approval',
    debit: completed,
    n: 2,
  },
  completed: {
    summary: 'The customer was debited; deliver goods on this event only',
    debit: completed,
    n: 3,
  },
  failed: { summary: 'The debit failed; the customer was not debited', debit: failed, n: 3 },
  reversed: { summary: 'A completed debit was reversed', debit: reversed, n: 4 },
}

export const response = { kind: 'answered', code: 204, body: '' } as const
export const attempt = {
  id: attemptId({ reference, n: 3 }, Buffer.alloc(ATTEMPT_ID_BYTES, 159)),
  at: secondsLater(31),
  milliseconds: 48,
  address: '93.184.215.14',
  sentAs: 'transaction.completed',
}

const newRecord = newDelivery(
  { reference, n: 3, provider: demo, type: 'completed', at: secondsLater(30) },
  {},
)
export const delivered = recordAttempt(newRecord, response, attempt, 0)

export const lines = [debitLine(completed, undefined)]
const paid = pesewas(98_50)

/** The batch of the debit, paid a day later. */
export const exampleBatch = endPayment(
  withTotals(
    {
      ...openBatch({
        id: v.parse(BatchId, 'STL-20261122-ABC123'),
        uuid: v.parse(Uuid, '8a5c1d1e-0d7b-4f4e-9d3b-2f1e0d9c8b7a'),
        provider: demo,
        date: v.parse(Day, '2026-11-22'),
        n: 1,
        createdAt: startOf(v.parse(Day, '2026-11-22')),
        feeSchedule: { basisPoints: 150, fixed: pesewas(0) },
      }),
      sealedAt: startOf(v.parse(Day, '2026-11-22')),
      processedAt: startOf(v.parse(Day, '2026-11-23')),
      paid,
    },
    lines.reduce(addLine, noTotals),
    lines[0]?.completedAt,
  ),
  { bankReference: 'GCB-PAY-0001', at: startOf(v.parse(Day, '2026-11-23')) },
  [],
).batch

/** The requests to the bank for the debit, its refund and its payout. */
export const exampleSubmission = {
  ...facts,
  bank: gcb.identifier,
  createdAt: NOON,
  account,
  repeated: false,
}
export const exampleRefund = { ...reversalRefund(reversed), repeated: false }
export const examplePayout = {
  ...exampleBatch,
  batch: exampleBatch.id,
  amount: paid,
  account: { bank: gcb.identifier, accountNumber: '1041001001', accountName: 'Demo Payments Ltd' },
  repeated: false,
}

const POSITION = `${NOON.toISOString()}#${reference}`

export const exampleCursors = {
  'list-debit-requests': cursorFor(listHash('list-debit-requests', 'demo'), POSITION),
  'list-debit-transactions': cursorFor(listHash('list-debit-transactions', 'GCB'), POSITION),
  'list-events': cursorFor(listHash('list-events', 'demo'), '1.4'),
  'list-settlements': cursorFor(listHash('list-settlements', 'demo'), '2026-11-22#0001'),
}
