import type { QueueName } from '../../shared/queues/messages.ts'
import { tableDefinition } from './table.ts'

/** The form of a function's permissions. */

export const itemActions = [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  // Writes of a transaction need their own actions; this one exists only in transactions.
  'ConditionCheckItem',
] as const

export const indexNames = tableDefinition.indexes.map(({ name }) => name)
export type IndexName = (typeof indexNames)[number]

/** Partition keys of the table, as patterns for `dynamodb:LeadingKeys`. */
type Partition =
  | 'APPROVALS'
  | 'BANKS'
  | 'BANK_HEALTH'
  | 'CALENDAR'
  | 'STATEMENTS'
  | 'CHANGES'
  | 'ACCESSES'
  | 'FUNDING'
  | 'FUNDS'
  | 'HASH_KEY'
  | 'LEDGER'
  | 'RESTORE'
  | 'SWEEP'
  | `${'APPROVAL' | 'BANK' | 'BATCH' | 'BUILD' | 'CREDENTIAL' | 'CUSTOMER' | 'DEBIT' | 'FEED'}#*`
  | `${'BULK' | 'ERASURE' | 'PAYEE' | 'PROVIDER' | 'WAITING' | 'WEBHOOK'}#*`
  | 'RECONCILIATION#*'
  /** Partner references, which have a partition each. */
  | 'PROVIDER#*#*'
  | `WINDOW#${string}#*`

/** The peers on the internet that a function calls. */
export type Peers = 'banks' | 'receivers'

/** Actions on items of the table; queries of indexes, with patterns of partition keys; others. */
export type Permissions = Partial<Record<(typeof itemActions)[number], readonly Partition[]>> &
  Partial<Record<IndexName, readonly string[]>> & {
    sends?: readonly QueueName[]
    /** Receives and deletes the dead letters of the queues in `sends`. */
    redrives?: true
    /** Queue that the function's schedules send to. */
    schedulesInto?: QueueName
    /** Seals or opens secrets of providers and banks. */
    sealingKey?: true
    invokes?: readonly `manage-${string}`[]
    /** Settlement reports, and the restore generation in the same bucket. */
    reports?: readonly ('read' | 'write' | 'generation')[]
    journals?: readonly ('read' | 'write')[]
    /** The sealed audit, which nobody removes. */
    audit?: readonly ('read' | 'write')[]
    /** Exports and erasures of customers, which the bucket keeps for a limited time. */
    customers?: readonly ('read' | 'write')[]
    /** The erasures alone. */
    erasures?: readonly ('read' | 'write')[]
    calls?: readonly Peers[]
  }

/** Returns the accesses to the bucket of reports. */
export const bucketAccesses = (permissions: Permissions) => {
  const { reports = [], journals = [], customers = [], erasures = [] } = permissions
  return [...reports, ...journals, ...customers, ...erasures]
}

/** Returns all permissions of the parts; lists of the same name are joined. */
export const merge = (...parts: readonly Permissions[]): Permissions => {
  const merged: Record<string, unknown> = {}
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    const previous = merged[name] ?? []
    merged[name] = Array.isArray(value) ? [...new Set([previous, value].flat())] : value
  }
  return merged
}
