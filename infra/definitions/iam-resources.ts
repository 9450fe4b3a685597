import type { deadLetters, QueueName } from '../../shared/queues/messages.ts'
import type { IndexName } from './permissions.ts'

/** Names the resources of the statements, and gives the reason of each wildcard. */

export type IamResource =
  | 'table'
  | `index/${IndexName}`
  | 'stream'
  | 'lost-records'
  | `queue/${QueueName | ReturnType<typeof deadLetters>}`
  | 'schedules/*'
  | 'schedule-role'
  | 'sealing-key'
  | 'client-certificate'
  | 'client-certificate-key'
  | 'network-interfaces'
  | 'reports'
  | 'reports/settlements/*/STL-*'
  | 'reports/ledger/*'
  | 'reports/exports/*'
  | 'reports/erasures/*'
  | `function/manage-${string}`
  | 'reports/restores/generation.json'
  | 'audit'
  | 'audit/*'
  | 'key'
  | 'log'
  | '*'

export const wildcardReasons: Partial<Record<IamResource, string>> = {
  'schedules/*': 'The uuid of a debit names its schedule; the group holds timeouts of debits only',
  'reports/settlements/*/STL-*': 'The keys of reports contain the ids of provider and batch',
  'reports/ledger/*': 'The key of a journal contains its day',
  'reports/exports/*': 'The key of an export is the random id of its call',
  'reports/erasures/*': 'The key of an erasure contains its day and a number',
  'audit/*': 'The keys of audit objects contain their day',
  'network-interfaces': 'EC2 names network interfaces when it creates them',
  log: 'Lambda names the streams in the log group of the function',
  '*': 'The action has no type of resource',
}
