import type { DebitEventName } from '../../../shared/domain/debits/lifecycle.ts'
import { eventExpectations } from './lifecycle.ts'
import type { DebitHistory } from './observation-index.ts'
import type { RawBatch } from './raw-items.ts'
import { debitNumber, eventNumber, inGhs, SETTLED, uuidOf } from './time-and-money.ts'

/** The expected payloads, computed from raw items. Amounts are text. */

const iso = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

const METHODS: Record<string, string> = { mobile_api: 'mobile_app' }

/** Returns the expected event `n` of a debit. The members of `whole` have no others. */
export const eventOf = ({ item, entries }: DebitHistory, n: number) => {
  const past = entries.slice(0, n + 1)
  const last = past[n]
  const set = Object.assign({}, ...past.map((entry) => entry.set))
  const adds = last && eventExpectations[last.type].adds
  const atOf = (type: DebitEventName) => iso(past.find((entry) => entry.type === type)?.at)
  const metadata = [item.metadata, ...past.map((entry) => entry.set.metadata)]
  const method = set.approvalMethod
  return {
    event: `transaction.${last?.type}`,
    event_id: `evt_${eventNumber(item.reference, n, last?.gen)}`,
    timestamp: iso(last?.at),
    api_version: 'v1',
    sequence: n,
    subject: {
      id: `dt_${debitNumber(item.reference)}`,
      uuid: uuidOf(item.reference),
      reference: item.reference,
      partner_reference: item.partnerReference,
      status: last?.type,
      amount: inGhs(item.amount),
      currency: 'GHS',
      fee: set.fee === undefined ? null : inGhs(set.fee),
      narration: item.narration,
      approval_method: METHODS[method] ?? method ?? null,
      bank_reference: set.bankReference ?? null,
      error_message: set.errorMessage ?? null,
      created_at: iso(past[0]?.at),
      processed_at: atOf('processing'),
      completed_at: atOf('completed'),
      bank: { name: item.bank.name, identifier: item.bank.identifier, country_code: 'GH' },
      customer: {
        name: set.customerName ?? null,
        phone_number: item.phone,
        account_number: set.accountNumber ?? null,
      },
    },
    data: {
      previous_status: past[n - 1]?.type ?? null,
      refund:
        adds === 'refund'
          ? { status: 'pending', amount: inGhs(item.amount), completed_at: null }
          : undefined,
    },
    whole: {
      metadata: Object.assign({}, ...metadata.map((text) => (text ? JSON.parse(text) : {}))),
      error_details:
        adds === 'error_details' ? { message: set.errorMessage, code: set.errorCode } : undefined,
    },
  }
}

/** Returns the expected event of a completed batch. */
export const settledEventOf = ({
  id,
  uuid,
  provider,
  completedAt,
  totals,
  paid,
  date,
  completedGeneration,
}: RawBatch) => ({
  event: 'settlement.completed',
  event_id: `evt_${eventNumber(id, SETTLED, completedGeneration)}`,
  timestamp: completedAt,
  api_version: 'v1',
  sequence: 0,
  subject: {
    id,
    uuid,
    provider,
    currency: 'GHS',
    date,
    status: 'completed',
    count: totals?.count,
    gross: inGhs(totals?.gross ?? 0),
    fee: inGhs(totals?.fee ?? 0),
    adjustments: inGhs(totals?.adjustments ?? 0),
    net: inGhs(totals?.net ?? 0),
    paid: paid === null ? null : inGhs(paid),
    completed_at: completedAt,
  },
})

const AMOUNTS = new Set(['amount', 'fee', 'gross', 'adjustments', 'net', 'paid'])

const isEqual = (actual: unknown, expected: unknown, name = ''): boolean => {
  if (AMOUNTS.has(name) && typeof expected === 'string') return actual === Number(expected)
  if (typeof expected !== 'object' || expected === null) return actual === expected
  if (typeof actual !== 'object' || actual === null) return false
  return differing(actual, expected) === undefined
}

/** Returns the first member that differs. */
export const differing = (actual: object, expected: object): string | undefined => {
  const members = actual as Record<string, unknown>
  for (const [name, member] of Object.entries(expected)) {
    if (member === undefined ? name in members : !isEqual(members[name], member, name)) return name
  }
  return undefined
}
