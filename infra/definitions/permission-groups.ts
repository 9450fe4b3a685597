import { type OperationName, operations } from '../../shared/api/operations.ts'
import type { QueueName } from '../../shared/queues/messages.ts'
import type { tableDefinition } from './table.ts'

export type ItemAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  /** Writes of a transaction need their own actions; this one exists only in transactions. */
  | 'ConditionCheckItem'

export type IndexName = (typeof tableDefinition)['indexes'][number]['name']

/** Partition keys of the table, as patterns for `dynamodb:LeadingKeys`. */
type Partition =
  | 'APPROVALS'
  | 'BANKS'
  | 'CHANGES'
  | 'FUNDING'
  | 'FUNDS'
  | 'LEDGER'
  | 'RESTORE'
  | 'SWEEP'
  | `${'BANK' | 'BATCH' | 'BUILD' | 'CREDENTIAL' | 'CUSTOMER' | 'DEBIT' | 'FEED' | 'PROVIDER' | 'UUID'}#*`
  /** Partner references, which have a partition each. */
  | 'PROVIDER#*#*'
  | `WINDOW#${string}#*`

type ItemPermissions = Partial<Record<ItemAction, readonly Partition[]>>
type Lists = Partial<Record<IndexName, readonly string[]>>

export type Permissions = {
  items?: ItemPermissions
  lists?: Lists
  sends?: readonly QueueName[]
  /** Queue that the function's schedules send to. */
  schedulesInto?: QueueName
  /** Seals or opens secrets of providers and banks. */
  sealingKey?: true
  invokes?: readonly `manage-${string}`[]
  /** Settlement reports, and the restore generation in the same bucket. */
  reports?: readonly ('read' | 'write' | 'generation')[]
  journals?: readonly ('read' | 'write')[]
}

const mergeLists = <K extends string, V>(
  records: readonly (Partial<Record<K, readonly V[]>> | undefined)[],
): Partial<Record<K, readonly V[]>> => {
  const merged: Partial<Record<K, readonly V[]>> = {}
  const entries = records.flatMap((record) => Object.entries(record ?? {}) as [K, readonly V[]][])
  for (const [key, values] of entries) merged[key] = unique([...(merged[key] ?? []), ...values])
  return merged
}

const unique = <V>(values: readonly V[]): V[] => [...new Set(values)]

export const merge = (...parts: readonly Permissions[]): Permissions => ({
  ...Object.assign({}, ...parts),
  items: mergeLists(parts.map(({ items }) => items)),
  lists: mergeLists(parts.map(({ lists }) => lists)),
  sends: unique(parts.flatMap(({ sends = [] }) => sends)),
  reports: unique(parts.flatMap(({ reports = [] }) => reports)),
  journals: unique(parts.flatMap(({ journals = [] }) => journals)),
  invokes: unique(parts.flatMap(({ invokes = [] }) => invokes)),
})

/** Reads the caller, counts requests and failed credentials, and verifies a provider's signature. */
export const caller = (name: OperationName): Permissions => ({
  items: {
    GetItem: ['CREDENTIAL#*', 'PROVIDER#*', 'BANKS'],
    UpdateItem: [`WINDOW#${name}#*`, 'WINDOW#address#*'],
  },
  ...(operations[name].caller === 'provider' ? { sealingKey: true } : {}),
})

/** Reads the restore generation and the holds of a restore (docs/api.md#restores). */
const readsRestore: Permissions = { items: { GetItem: ['RESTORE'] } }

/** Stores calls that need an approval and executes approved ones. */
export const requestsApprovals: Permissions = {
  items: {
    GetItem: ['APPROVALS'],
    PutItem: ['APPROVALS', 'CHANGES'],
    UpdateItem: ['APPROVALS'],
  },
}

/** Changes debits; a failed debit also lowers the day total of its provider. */
export const transitionsDebits = merge(readsRestore, {
  items: { GetItem: ['DEBIT#*'], UpdateItem: ['DEBIT#*', 'PROVIDER#*'] },
})

/** Queries the bank for the outcome before a timeout fails a debit. */
export const expiresDebits = merge(transitionsDebits, {
  items: { GetItem: ['BANKS', 'BANK#*'] },
  sealingKey: true,
})

export const appliesBankReports = merge(transitionsDebits, {
  items: { GetItem: ['UUID#*'], PutItem: ['DEBIT#*'] },
})

/** Delivers events of debits and batches, and updates the webhook's health. */
export const deliversWebhooks: Permissions = {
  items: {
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    GetItem: ['DEBIT#*', 'PROVIDER#*'],
    PutItem: ['DEBIT#*', 'PROVIDER#*'],
  },
  sealingKey: true,
}

export const redeliversEvents: Permissions = {
  items: {
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    GetItem: ['DEBIT#*', 'PROVIDER#*'],
    PutItem: ['DEBIT#*'],
  },
}

export const appendsToFeed = merge(readsRestore, {
  items: { Query: ['FEED#*'], PutItem: ['FEED#*'], UpdateItem: ['FEED#*'] },
})

export const buildsBatches = merge(readsRestore, {
  items: {
    GetItem: ['PROVIDER#*', 'BATCH#*', 'SWEEP'],
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    Query: ['BATCH#*'],
    PutItem: ['BATCH#*'],
    UpdateItem: ['DEBIT#*', 'BUILD#*'],
    DeleteItem: ['BUILD#*'],
    ConditionCheckItem: ['BATCH#*'],
  },
  lists: { 'by-status': ['*#settlements'], work: ['SETTLE#*'] },
})

export const paysBatches = merge(readsRestore, {
  items: {
    GetItem: ['BATCH#*', 'PROVIDER#*', 'BANKS', 'BANK#*', 'FUNDS'],
    BatchGetItem: ['BATCH#*'],
    PutItem: ['BATCH#*'],
    UpdateItem: ['FUNDS'],
  },
  lists: { work: ['BELOW_ZERO#*'] },
  sealingKey: true,
})

export const byStatus = ['*#pending', '*#processing', '*#completed', '*#failed', '*#reversed']

export const derivesLedger: Permissions = {
  items: {
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    Query: ['BATCH#*', 'CHANGES', 'DEBIT#*', 'FUNDING', 'LEDGER'],
  },
  lists: {
    'by-status': ['*#settlements', 'PROVIDERS', 'EXCEPTIONS#*', 'REFUNDS#*'],
    work: ['SETTLE#*'],
  },
}

export const reconciles = merge(derivesLedger, {
  items: {
    GetItem: ['PROVIDER#*', 'FUNDS', 'RESTORE'],
    BatchGetItem: ['UUID#*', 'PROVIDER#*#*'],
    Query: ['FEED#*'],
    PutItem: ['LEDGER'],
  },
  lists: { 'by-status': byStatus, work: ['PAY', 'FAILED', 'BELOW_ZERO#*'] },
})
