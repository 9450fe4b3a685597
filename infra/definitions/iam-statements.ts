import type { QueueName } from '../../shared/queues/messages.ts'
import { type FunctionName, permissionsOf } from './function-permissions.ts'
import { type JobName, jobRow, jobs } from './jobs.ts'
import type { IndexName, ItemAction, Permissions } from './permission-groups.ts'

/** Derives each function's IAM statements from its permissions, with resource names for ARNs. */

export type IamResource =
  | 'table'
  | `index/${IndexName}`
  | 'stream'
  | 'lost-records'
  | `queue/${QueueName}`
  | 'schedules/*'
  | 'schedule-role'
  | 'sealing-key'
  | 'reports'
  | 'reports/settlements/*/STL-*'
  | 'reports/ledger/*'
  | `function/manage-${string}`
  | 'reports/restores/generation.json'
  | 'key'
  | 'log'

export type IamStatement = {
  actions: readonly string[]
  resource: IamResource
  /** `dynamodb:LeadingKeys`: patterns of partition keys. */
  keys?: readonly string[]
  /** `kms:ViaService`: services that may use the key on the function's behalf. */
  via?: readonly string[]
  /** `iam:PassedToService` */
  passedTo?: string
}

export const wildcardReasons: Partial<Record<IamResource, string>> = {
  'schedules/*': 'The uuid of a debit names its schedule; the group holds timeouts of debits only',
  'reports/settlements/*/STL-*': 'The keys of reports contain the ids of provider and batch',
  'reports/ledger/*': 'The key of a journal contains its day',
  log: 'Lambda names the streams in the log group of the function',
}

/** Returns the statements for calls by the function's code; the sandbox enforces them. */
export const codeStatements = (
  name: FunctionName,
  permissions = permissionsOf(name),
): IamStatement[] => [
  ...itemStatements(permissions),
  ...Object.entries(permissions.lists ?? {}).map(([index, keys]) => ({
    actions: ['dynamodb:Query'],
    resource: `index/${index as IndexName}` as const,
    keys,
  })),
  ...(permissions.sends ?? []).map((queue) => ({
    actions: ['sqs:SendMessage'],
    resource: `queue/${queue}` as const,
  })),
  // Shortens the visibility timeout of a failed message.
  ...consumedQueues(name).map((queue) => ({
    actions: ['sqs:ChangeMessageVisibility'],
    resource: `queue/${queue}` as const,
  })),
  ...scheduleStatements(permissions),
  ...sealingKeyStatements(permissions),
  ...reportStatements(permissions),
  ...(permissions.invokes ?? []).map((name) => ({
    actions: ['lambda:InvokeFunction'],
    resource: `function/${name}` as const,
  })),
]

/** Returns the statements for calls by AWS on the function's behalf: polling, logs, decryption. */
export const platformStatements = (
  name: FunctionName,
  permissions = permissionsOf(name),
): IamStatement[] => [
  { actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resource: 'log' },
  ...consumedQueues(name).map((queue) => ({
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    resource: `queue/${queue}` as const,
  })),
  ...(readsStream(name) ? streamStatements : []),
  ...encryptionStatements(permissions),
  ...listStatements(permissions),
]

const encryptionStatements = ({
  items,
  reports = [],
  journals = [],
  sealingKey,
}: Permissions): IamStatement[] => {
  const via = [
    ...(items ? ['dynamodb'] : []),
    ...(reports.length + journals.length > 0 ? ['s3'] : []),
    ...(sealingKey ? ['secretsmanager'] : []),
  ]
  return via.length > 0 ? [{ actions: KEY_ACTIONS, resource: 'key', via }] : []
}

const KEY_ACTIONS = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
]

const isJob = (name: FunctionName): name is JobName => name in jobs

const readsStream = (name: FunctionName): boolean => isJob(name) && 'stream' in jobRow(name).from

const consumedQueues = (name: FunctionName): readonly QueueName[] => {
  if (!isJob(name)) return []
  const { from } = jobRow(name)
  return 'queues' in from ? from.queues : []
}

const streamStatements: IamStatement[] = [
  {
    actions: [
      'dynamodb:DescribeStream',
      'dynamodb:GetRecords',
      'dynamodb:GetShardIterator',
      'dynamodb:ListStreams',
    ],
    resource: 'stream',
  },
  { actions: ['sqs:SendMessage'], resource: 'lost-records' },
]

/** Merges actions on the same keys into one statement, because the size of a policy is limited. */
const itemStatements = ({ items = {} }: Permissions): IamStatement[] => {
  const byKeys = Map.groupBy(
    Object.entries(items) as [ItemAction, readonly string[]][],
    ([, keys]) => keys.toSorted().join(),
  )
  return [...byKeys.values()].map((entries) => ({
    actions: entries.map(([action]) => `dynamodb:${action}`),
    resource: 'table',
    keys: entries[0]?.[1] ?? [],
  }))
}

const scheduleStatements = ({ schedulesInto }: Permissions): IamStatement[] =>
  schedulesInto
    ? [
        { actions: ['scheduler:CreateSchedule'], resource: 'schedules/*' },
        // Scheduler assumes this role to send the message.
        {
          actions: ['iam:PassRole'],
          resource: 'schedule-role',
          passedTo: 'scheduler.amazonaws.com',
        },
      ]
    : []

const sealingKeyStatements = ({ sealingKey }: Permissions): IamStatement[] =>
  sealingKey ? [{ actions: ['secretsmanager:GetSecretValue'], resource: 'sealing-key' }] : []

/** Without `s3:ListBucket`, S3 answers 403 for a missing report, which is a fault as well. */
const reportStatements = ({ reports = [], journals = [] }: Permissions): IamStatement[] => [
  ...reports.map((access) => ({
    actions: reportActions[access],
    resource:
      access === 'generation'
        ? ('reports/restores/generation.json' as const)
        : ('reports/settlements/*/STL-*' as const),
  })),
  ...journals.map((access) => ({
    actions: reportActions[access],
    resource: 'reports/ledger/*' as const,
  })),
]

const reportActions = {
  read: ['s3:GetObject'],
  write: ['s3:PutObject', 's3:AbortMultipartUpload'],
  generation: ['s3:GetObject', 's3:PutObject'],
} as const

/** Lets S3 answer 404 for the generation, which does not exist before the first restore. */
const listStatements = ({ reports = [] }: Permissions): IamStatement[] =>
  reports.includes('generation') ? [{ actions: ['s3:ListBucket'], resource: 'reports' }] : []

/** A single action on a resource or on the items of one partition key. */
export type Permission = { action: string; resource: string; key?: string }

export const permissionsIn = (statements: readonly IamStatement[]): Permission[] =>
  statements.flatMap(({ actions, resource, keys }) =>
    actions.flatMap((action) =>
      keys ? keys.map((key) => ({ action, resource, key })) : [{ action, resource }],
    ),
  )

export const formatPermission = ({ action, resource, key }: Permission): string =>
  [action, 'on', resource, ...(key === undefined ? [] : [key])].join(' ')
