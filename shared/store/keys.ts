import { hash } from 'node:crypto'
import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { Status } from '../domain/debits/lifecycle.ts'
import type { Reference, Uuid } from '../domain/ids.ts'
import type { ApprovalId } from '../domain/operator/approval.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { BatchId, Line } from '../domain/settlement/batch.ts'
import type { Day } from '../domain/time.ts'

/** The keys of all items. A key contains text of users only as a hash, so no text can name another item. */

export type Key = { pk: string; sk: string }
/** The items of one partition, or those whose sort keys have a common prefix. */
export type Collection = { pk: string; prefix?: string | undefined }

export const sha256 = (text: string): string => hash('sha256', text, 'base64url')

const padded = (number: number, digits = 2): string => String(number).padStart(digits, '0')

export const keys = {
  debit: (reference: Reference): Key => ({ pk: `DEBIT#${reference}`, sk: 'DEBIT' }),
  delivery: (reference: Reference, n: number): Key => ({
    pk: `DEBIT#${reference}`,
    sk: `DELIVERY#${padded(n)}`,
  }),
  /** An attempt before the last one. Redeliveries make their number unbounded. */
  attempt: (reference: Reference, n: number, attempt: number): Key => ({
    pk: `DEBIT#${reference}`,
    sk: `ATTEMPT#${padded(n)}#${padded(attempt, 6)}`,
  }),
  attempts: (reference: Reference, n: number): Collection => ({
    pk: `DEBIT#${reference}`,
    prefix: `ATTEMPT#${padded(n)}#`,
  }),
  /** In the index by-status: the debits of a provider in one status, by their time. */
  byStatus: (provider: ProviderId, status: Status): string => `${provider}#${status}`,
  /** In the index by-status: the undelivered events of a provider, by their time. */
  undelivered: (provider: ProviderId): string => `${provider}#undelivered`,
  /** In the index by-customer: the debits of a phone number at one bank, by their time. */
  byCustomer: (bank: BankIdentifier, phone: PhoneNumber): string => `${bank}#${phone}`,
  /** Sorts by creation. The reference makes it unique and can be parsed from it. */
  byTime: (createdAt: Date, reference: Reference) => `${createdAt.toISOString()}#${reference}`,
  /** In the index work: items that the sweep checks when they are due, in a few shards. */
  workShard: (shard: number): string => `WATCH#${shard}`,
  /** In the index work: the completed debits of a provider before their settlement. */
  unsettled: (provider: ProviderId): string => `SETTLE#${provider}`,
  deliveries: (reference: Reference): Collection => ({
    pk: `DEBIT#${reference}`,
    prefix: 'DELIVERY#',
  }),
  /** A rejected bank report. A repeated report is another record. */
  exception: (reference: Reference, requestId: string): Key => ({
    pk: `DEBIT#${reference}`,
    sk: `EXCEPTION#${requestId}`,
  }),
  refund: (reference: Reference): Key => ({ pk: `DEBIT#${reference}`, sk: 'REFUND' }),
  /** In the index by-status: open and failed refunds by their creation, others by their completion. */
  refunds: (list: 'due' | 'completed'): string => `REFUNDS#${list}`,
  exceptionsOf: (reference: Reference): Collection => ({
    pk: `DEBIT#${reference}`,
    prefix: 'EXCEPTION#',
  }),
  uuid: (uuid: Uuid): Key => ({ pk: `UUID#${uuid}`, sk: 'UUID' }),
  partnerReference: (provider: ProviderId, partnerReference: string): Key => ({
    pk: `PROVIDER#${provider}#${sha256(partnerReference)}`,
    sk: 'PARTNER_REFERENCE',
  }),
  dayTotal: (provider: ProviderId, day: string): Key => ({
    pk: `PROVIDER#${provider}`,
    sk: `DAY#${day}`,
  }),
  /** In the index by-status: open and resolved exceptions, by the time of the report. */
  exceptions: (status: 'open' | 'resolved'): string => `EXCEPTIONS#${status}`,
  changes: { pk: 'CHANGES' },
  change: (time: string): Key => ({ pk: 'CHANGES', sk: time }),
  /** In the index by-status: the changes of one provider or bank; undefined for all others. */
  changesOf: ({ provider, bank }: { provider?: string; bank?: string }): string | undefined => {
    if (provider) return `CHANGES#provider#${provider}`
    return bank && `CHANGES#bank#${bank}`
  },
  /** Remittances of banks, each under the bank's own reference. */
  fundings: { pk: 'FUNDING' },
  funding: (bank: BankIdentifier, reference: string): Key => ({
    pk: 'FUNDING',
    sk: `${bank}#${sha256(reference)}`,
  }),
  /** The cash that banks have remitted, less the payouts that have begun. */
  funds: { pk: 'FUNDS', sk: 'FUNDS' },
  /** Balances of the ledger at the end of a day. */
  ledger: (day: string): Key => ({ pk: 'LEDGER', sk: day }),
  approvals: { pk: 'APPROVALS' },
  /** One partition for all requests, so that their list is strongly consistent. */
  approval: (id: ApprovalId): Key => ({ pk: 'APPROVALS', sk: id }),
  /** In the index by-status: every provider, by its id. */
  providers: 'PROVIDERS',
  restore: { pk: 'RESTORE', sk: 'RESTORE' },
  sweep: { pk: 'SWEEP', sk: 'SWEEP' },
  provider: (provider: ProviderId): Key => ({ pk: `PROVIDER#${provider}`, sk: 'PROVIDER' }),
  webhook: (provider: ProviderId): Key => ({ pk: `PROVIDER#${provider}`, sk: 'WEBHOOK' }),
  webhookHealth: (provider: ProviderId): Key => ({
    pk: `PROVIDER#${provider}`,
    sk: 'WEBHOOK_HEALTH',
  }),
  recovery: (provider: ProviderId, id: string): Key => ({
    pk: `PROVIDER#${provider}`,
    sk: `RECOVERY#${id}`,
  }),
  batch: (id: BatchId): Key => ({ pk: `BATCH#${id}`, sk: 'BATCH' }),
  /** A debit has at most one line of each type. */
  line: (id: BatchId, type: Line['type'], reference: Reference): Key => ({
    pk: `BATCH#${id}`,
    sk: `${type.toUpperCase()}#${reference}`,
  }),
  /** The lease of the builder of a provider's batches of a day. */
  build: (provider: ProviderId, date: Day): Key => ({
    pk: `BUILD#${provider}`,
    sk: `BUILD#${date}`,
  }),
  /** In the index by-status: the batches of a provider, by their day. */
  batches: (provider: ProviderId): string => `${provider}#settlements`,
  /** In the index work: sealed batches, by the day of their payment. */
  payable: 'PAY',
  /** In the index work: batches whose payment failed, by the time of the failure. */
  failedBatches: 'FAILED',
  /** In the index work: the batches of a provider whose net is below zero. */
  belowZero: (provider: ProviderId): string => `BELOW_ZERO#${provider}`,
  /** A page of the feed of a provider's events. */
  feedPage: (provider: ProviderId, page: number): Key => ({
    pk: `FEED#${provider}`,
    sk: padded(page, 10),
  }),
  credential: (hash: string): Key => ({ pk: `CREDENTIAL#${hash}`, sk: 'CREDENTIAL' }),
  credentialHash: (pk: string): string => pk.slice('CREDENTIAL#'.length),
  /** In the index by-status: the credentials of one owner, by when they were issued. */
  credentials: ({ kind, owner }: { kind: string; owner: string }) => `CREDENTIALS#${kind}#${owner}`,
  bank: (identifier: string): Key => ({ pk: 'BANKS', sk: identifier }),
  banks: { pk: 'BANKS' },
  /** Outside the partition of the banks, which every charge reads and which holds no secret. */
  connector: (bank: string): Key => ({ pk: `BANK#${bank}`, sk: 'CONNECTOR' }),
  account: (phone: string, bank: string): Key => ({
    pk: `CUSTOMER#${phone}`,
    sk: `ACCOUNT#${bank}`,
  }),
  window: (scope: string, start: number): Key => ({ pk: `WINDOW#${scope}#${start}`, sk: 'WINDOW' }),
} as const
