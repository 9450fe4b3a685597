import { hash } from 'node:crypto'
import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { ExceptionStatus } from '../domain/debits/exception.ts'
import { listedAlone } from '../domain/debits/lifecycle.ts'
import type { RefundList } from '../domain/debits/refund.ts'
import type { BatchId, ChunkId, Reference } from '../domain/ids.ts'
import type { ApprovalId } from '../domain/operator/approval.ts'
import type { BulkId } from '../domain/operator/bulk.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Day } from '../domain/time.ts'

/** The keys of all items. A key contains text of users only as a hash, so no text can name another item. */

export type Key = { pk: string; sk: string }
/**
 * The lists of debits. `main`: new, and then completed. `open`: still open when the sweep checked it. So
 * an ordinary debit never changes its list, and one in `main` that the sweep has checked is completed.
 */
export const debitLists = ['main', 'open', ...listedAlone] as const
export type DebitList = (typeof debitLists)[number]
/** The `entity` of an item whose changes the relay follows (functions/jobs/relay.ts). */
export type FollowedEntity =
  | 'debit'
  | 'delivery'
  | 'recovery'
  | 'batch'
  | 'build'
  | 'exception'
  | 'refund'
  | 'reconciliation'
  | 'reconciliation-part'

/** The items of one partition, or those whose sort keys have a common prefix. */
export type Collection = { pk: string; prefix?: string | undefined }

export const sha256 = (text: string): string => hash('sha256', text, 'base64url')

const item = <const S extends string>(pk: string, sk: S): { pk: string; sk: S } => ({ pk, sk })

const padded = (number: number, digits = 2): string => String(number).padStart(digits, '0')

export const keys = {
  debit: (reference: Reference) => item(`DEBIT#${reference}`, 'DEBIT'),
  delivery: (reference: Reference, n: number) =>
    item(`DEBIT#${reference}`, `DELIVERY#${padded(n)}`),
  /** The events of a charge that were delivered at the first attempt. */
  receipt: (reference: Reference) => item(`DEBIT#${reference}`, 'DELIVERY#00-01'),
  /** An attempt before the last one. Redeliveries make their number unbounded. */
  attempt: (reference: Reference, n: number, attempt: number) =>
    item(`DEBIT#${reference}`, `ATTEMPT#${padded(n)}#${padded(attempt, 6)}`),
  attempts: (reference: Reference, n: number) => ({
    pk: `DEBIT#${reference}`,
    prefix: `ATTEMPT#${padded(n)}#`,
  }),
  /** In the index by-status: the debits of a provider in one list, by their creation. */
  debits: (provider: ProviderId | '*', list: DebitList): string =>
    `${provider}#${list === 'main' ? 'good' : list}`,
  /** In the index by-status: the undelivered events of a provider, by their time. */
  undelivered: (provider: ProviderId): string => `${provider}#undelivered`,
  /** In the index by-customer: the debits of a phone number at one bank, by their time. */
  byCustomer: (bank: BankIdentifier, phone: PhoneNumber): string => `${bank}#${phone}`,
  /** Those that the service did not submit, because the customer had too many prompts. */
  unprompted: (bank: BankIdentifier, phone: PhoneNumber): string => `${bank}#${phone}#unprompted`,
  /** Sorts by creation. The reference makes it unique and can be parsed from it. */
  byTime: (createdAt: Date, reference: Reference) => `${createdAt.toISOString()}#${reference}`,
  /** In the index work: items that the sweep checks when they are due, in shards. */
  workShard: (shard: number): string => `WATCH#${shard}`,
  /** In the index work: the debits of a provider that wait for a line or adjustment, in shards. */
  unsettled: (provider: ProviderId, shard: number): string => `SETTLE#${provider}#${shard}`,
  deliveries: (reference: Reference) => ({ pk: `DEBIT#${reference}`, prefix: 'DELIVERY#' }),
  /** Each report is a record; the time separates invocations with one request id. */
  exception: ({
    reference,
    at,
    requestId,
  }: {
    reference: Reference
    at: Date
    requestId: string
  }) => item(`DEBIT#${reference}`, `EXCEPTION#${at.toISOString()}#${requestId}`),
  refund: (reference: Reference) => item(`DEBIT#${reference}`, 'REFUND'),
  /** A page of debits whose customer, named by its hash, is erased later. */
  laterErasure: (hash: string, page: string) => item(`ERASURE#${hash}`, `LATER#${page}` as const),
  /** In the index by-status: open and failed refunds by their creation, others by their completion. */
  refunds: (list: RefundList): string => `REFUNDS#${list}`,
  exceptionsOf: (reference: Reference) => ({ pk: `DEBIT#${reference}`, prefix: 'EXCEPTION#' }),
  partnerReference: (provider: ProviderId, partnerReference: string) =>
    item(`PROVIDER#${provider}#${sha256(partnerReference)}`, 'PARTNER_REFERENCE'),
  dayTotal: (provider: ProviderId, day: string) => item(`PROVIDER#${provider}`, `DAY#${day}`),
  /** In a partition that only the lookup and the sweep may use. */
  unknownNumbers: (provider: ProviderId, day: string) =>
    item(`WINDOW#lookup-customer-banks#${provider}`, `DAY#${day}`),
  /** In the index by-status: open and resolved exceptions, by the time of the report. */
  exceptions: (status: ExceptionStatus): string => `EXCEPTIONS#${status}`,
  changes: { pk: 'CHANGES' },
  change: (time: string) => item('CHANGES', time),
  /** In the index by-status: the changes of one provider or bank; undefined for all others. */
  changesOf: ({ provider, bank }: { provider?: string; bank?: string }): string | undefined => {
    if (provider) return `CHANGES#provider#${provider}`
    return bank && `CHANGES#bank#${bank}`
  },
  /** In the index by-customer: the changes of one customer, by the hash of the phone number. */
  changesOfCustomer: (hash: string): string => `CHANGES#${hash}`,
  /** The reads of customers' data by operators. */
  access: (time: string) => item('ACCESSES', time),
  /** In the index by-customer: the reads of one customer's data, by the hash of the phone number. */
  accessesOf: (hash: string): string => `ACCESSES#${hash}`,
  /** The sealed key of the hashes of customers. */
  hashKey: { pk: 'HASH_KEY', sk: 'HASH_KEY' },
  /** Remittances of banks, each under the bank's own reference. */
  fundings: { pk: 'FUNDING' },
  funding: (bank: BankIdentifier, reference: string) =>
    item('FUNDING', `${bank}#${sha256(reference)}`),
  statement: (date: string, bank: string) => item('STATEMENTS', `${date}#${bank}`),
  /** The public holidays of a year. */
  calendar: (year: string) => item('CALENDAR', year),
  /** The cash of remittances and of providers' transfers, less the payouts that have begun. */
  funds: { pk: 'FUNDS', sk: 'FUNDS' },
  /** A run of the reconciliation, and its parts in the same partition. */
  reconciliation: (run: string) => item(`RECONCILIATION#${run}`, 'RUN'),
  reconciliationPart: (run: string, part: string) => item(`RECONCILIATION#${run}`, `PART#${part}`),
  reconciliationProviders: (run: string, page: string) =>
    item(`RECONCILIATION#${run}`, `PROVIDERS#${page}`),
  /** Balances of the ledger at the end of a day. */
  ledger: (day: string) => item('LEDGER', day),
  /** Names the pages that have the balances of a day with many accounts. */
  pagedLedger: (day: string) => item('LEDGER', `PAGED#${day}`),
  ledgerPage: (run: string, n: number) => item('LEDGER', `PAGE#${run}/${n}`),
  ledgerPages: (run: string) => ({ pk: 'LEDGER', prefix: `PAGE#${run}/` }),
  approvals: { pk: 'APPROVALS' },
  /** One partition for all requests, so that their list is strongly consistent. */
  approval: (id: ApprovalId) => item('APPROVALS', id),
  /** Personal options in plain text, outside the partition whose items never expire. */
  plainOptions: (id: ApprovalId) => item(`APPROVAL#${id}`, 'OPTIONS'),
  /** The rows of a part, in a partition of their own: many are written at once. */
  bulkRows: (bulk: BulkId, n: number) => item(`BULK#${bulk}#${n}`, 'ROWS'),
  bulkParts: (bulk: BulkId) => ({ pk: `BULK#${bulk}`, prefix: 'PART#' }),
  bulkPart: (bulk: BulkId, n: number) => item(`BULK#${bulk}`, `PART#${padded(n, 6)}`),
  bulkOutcomes: (call: BulkId) => ({ pk: `BULK#${call}`, prefix: 'OUTCOME#' }),
  /** @param object a reference or the number of a part */
  bulkOutcome: (call: BulkId, object: string) => item(`BULK#${call}`, `OUTCOME#${object}`),
  /** In the index by-status: every provider, by its id. */
  providers: 'PROVIDERS',
  restore: { pk: 'RESTORE', sk: 'RESTORE' },
  sweep: { pk: 'SWEEP', sk: 'SWEEP' },
  /** Times of the providers that a run of the sweep left behind, if they are many. */
  sweepPage: (run: string, page: number) => item('SWEEP', `BEHIND#${run}#${page}`),
  provider: (provider: ProviderId) => item(`PROVIDER#${provider}`, 'PROVIDER'),
  /** Outside the provider's partition, which charges and deliveries write: IAM tells partitions apart. */
  payee: (provider: ProviderId) => item(`PAYEE#${provider}`, 'PAYEE'),
  webhook: (provider: ProviderId) => item(`WEBHOOK#${provider}`, 'WEBHOOK'),
  webhookHealth: (provider: ProviderId) => item(`PROVIDER#${provider}`, 'WEBHOOK_HEALTH'),
  recovery: (provider: ProviderId, id: string) => item(`PROVIDER#${provider}`, `RECOVERY#${id}`),
  batch: (id: BatchId) => item(`BATCH#${id}`, 'BATCH'),
  /** The lines of one transaction. */
  chunk: (id: BatchId, chunk: ChunkId) => item(`BATCH#${id}`, `LINES#${chunk}`),
  /** The chunks of a batch, or of one of its lanes. */
  chunks: (id: BatchId, lane?: number) => ({
    pk: `BATCH#${id}`,
    prefix: lane === undefined ? 'LINES#' : `LINES#${lane}#`,
  }),
  /** Exists once the lane is closed. The header is the gate of lane 0. */
  gate: (id: BatchId, lane: number) => item(`BATCH#${id}`, `GATE#${lane}`),
  /** The leases of the builders of a provider's batches of a day. */
  build: (provider: ProviderId, date: Day) => item(`BUILD#${provider}`, `BUILD#${date}`),
  /** In the index by-status: the batches of a provider, by their day. */
  batches: (provider: ProviderId): string => `${provider}#settlements`,
  /** In the index work: sealed batches, by the day of their payment. */
  payable: 'PAY',
  /** In the index work: batches whose payment failed, by the time of the failure. */
  failedBatches: 'FAILED',
  /** In the index work: the batches of a provider whose net is below zero. */
  belowZero: (provider: ProviderId): string => `BELOW_ZERO#${provider}`,
  /** A page of the feed of a provider's events. */
  feedPage: (provider: ProviderId, page: number) => item(`FEED#${provider}`, padded(page, 10)),
  credential: (hash: string) => item(`CREDENTIAL#${hash}`, 'CREDENTIAL'),
  credentialHash: (pk: string): string => pk.slice('CREDENTIAL#'.length),
  /** In the index by-status: the credentials of one owner, by when they were issued. */
  credentials: ({ kind, owner }: { kind: string; owner: string }) => `CREDENTIALS#${kind}#${owner}`,
  bank: (identifier: string) => item('BANKS', identifier),
  banks: { pk: 'BANKS' },
  /** Outside the partition of the banks, which every charge reads and which holds no secret. */
  connector: (bank: string) => item(`BANK#${bank}`, 'CONNECTOR'),
  /** Outside the partition of the banks: workers write it. */
  bankHealths: { pk: 'BANK_HEALTH' },
  bankHealth: (bank: string) => item('BANK_HEALTH', bank),
  /** The debits that wait while their bank is down, by the time of the charge. */
  waitingDebits: (bank: string): string => `WAITING#${bank}`,
  waitingDebit: (bank: string, createdAt: Date, reference: Reference) =>
    item(`WAITING#${bank}`, `${createdAt.toISOString()}#${reference}`),
  account: (phone: string, bank: string) => item(`CUSTOMER#${phone}`, `ACCOUNT#${bank}`),
  /** A number for which a bank had no account a moment ago. */
  missedAccount: (bank: BankIdentifier, phone: PhoneNumber) =>
    item(`WINDOW#missed-account#${sha256(`${bank} ${phone}`)}`, 'MISS'),
  window: (scope: string, start: number) => item(`WINDOW#${scope}#${start}`, 'WINDOW'),
} as const
