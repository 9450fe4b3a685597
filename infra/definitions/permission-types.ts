import type { QueueName } from '../../shared/queues/messages.ts'
import type { tableDefinition } from './table.ts'

/** The words in which permissions.ts says what a function may do. */

export type ItemAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  /** The writes of a transaction are each allowed by their own action; this one has no other use. */
  | 'ConditionCheckItem'

export type IndexName = (typeof tableDefinition)['indexes'][number]['name']

/** Partition keys of the table, as `dynamodb:LeadingKeys` is held against them. */
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
  /** The claims on providers' references, apart from what else is kept of a provider. */
  | 'PROVIDER#*#*'
  | `WINDOW#${string}#*`

type Items = Partial<Record<ItemAction, readonly Partition[]>>
/** The partition keys of an index that may be asked for. */
type Lists = Partial<Record<IndexName, readonly string[]>>

export type Permissions = {
  items?: Items
  lists?: Lists
  sends?: readonly QueueName[]
  /** Creates schedules that put messages into this queue. */
  schedulesInto?: QueueName
  /** Seals or opens the secrets of providers or banks. */
  sealingKey?: true
  /** Functions of the operator command that it invokes. */
  invokes?: readonly `manage-${string}`[]
  /** The reports of batches, and what is kept with them of restores. */
  reports?: readonly ('read' | 'write' | 'generation')[]
  /** The journals of the ledger. */
  journals?: readonly ('read' | 'write')[]
}

/** Lists under the same name in one. */
const together = <K extends string, V>(
  all: readonly (Partial<Record<K, readonly V[]>> | undefined)[],
): Partial<Record<K, readonly V[]>> => {
  const merged: Partial<Record<K, readonly V[]>> = {}
  for (const [key, values] of all.flatMap(
    (one) => Object.entries(one ?? {}) as [K, readonly V[]][],
  )) {
    merged[key] = unique([...(merged[key] ?? []), ...values])
  }
  return merged
}

const unique = <V>(values: readonly V[]): V[] => [...new Set(values)]

/** Several in one. */
export const allOf = (...parts: readonly Permissions[]): Permissions => ({
  ...Object.assign({}, ...parts),
  items: together(parts.map(({ items }) => items)),
  lists: together(parts.map(({ lists }) => lists)),
  sends: unique(parts.flatMap(({ sends = [] }) => sends)),
  reports: unique(parts.flatMap(({ reports = [] }) => reports)),
  journals: unique(parts.flatMap(({ journals = [] }) => journals)),
  invokes: unique(parts.flatMap(({ invokes = [] }) => invokes)),
})
