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
