import type { QueueName } from '../../shared/queues/messages.ts'
import type { FunctionName } from './function-permissions.ts'
import { permissionsOf } from './function-permissions.ts'
import { type JobName, jobRow, jobs } from './jobs.ts'
import type { IndexName, ItemAction, Permissions } from './permission-types.ts'

/** The role of each function as IAM is told of it, before anything has an ARN. */

export type Resource =
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

export type Statement = {
  actions: readonly string[]
  resource: Resource
  /** `dynamodb:LeadingKeys`: the partition keys, with `*` for what only a run can know. */
  keys?: readonly string[]
  /** `kms:ViaService`: the services that ask in the function's name. */
  via?: readonly string[]
  /** `iam:PassedToService` */
  passedTo?: string
}

/** Why what stands behind the last name of a resource can be no narrower. */
export const wildcards: Partial<Record<Resource, string>> = {
  'schedules/*':
    'A schedule is named by the uuid of its debit; nothing but clocks of debits is in the group',
  'reports/settlements/*/STL-*':
    'A report is kept under its provider and its batch, which only a run can know',
  'reports/ledger/*': 'A journal is named by its day',
  log: 'Lambda names the streams of the log group that is the function’s own',
}

/** What the code of a function calls: every flow test is held against it. */
export const calledBy = (name: FunctionName, permissions = permissionsOf(name)): Statement[] => [
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
  // Has a message that failed come again soon.
  ...queuesOf(name).map((queue) => ({
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

/** What AWS itself calls in the name of a function: to feed it, to keep its log, to decrypt. */
export const calledFor = (name: FunctionName, permissions = permissionsOf(name)): Statement[] => [
  { actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resource: 'log' },
  ...queuesOf(name).map((queue) => ({
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    resource: `queue/${queue}` as const,
  })),
  ...(isFedByStream(name) ? streamStatements : []),
  ...encryptionStatements(permissions),
  ...listStatements(permissions),
]

/** What the services that keep things ask of the key in the name of their caller. */
const encryptionStatements = ({
  items,
  reports = [],
  journals = [],
  sealingKey,
}: Permissions): Statement[] => {
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

const isFedByStream = (name: FunctionName): boolean => isJob(name) && 'stream' in jobRow(name).from

const queuesOf = (name: FunctionName): readonly QueueName[] => {
  if (!isJob(name)) return []
  const { from } = jobRow(name)
  return 'queues' in from ? from.queues : []
}

const streamStatements: Statement[] = [
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

/** One for all actions that are allowed on the same keys: a policy has its size. */
const itemStatements = ({ items = {} }: Permissions): Statement[] => {
  const byKeys = Map.groupBy(
    Object.entries(items) as [ItemAction, readonly string[]][],
    ([, keys]) => keys.toSorted().join(),
  )
  return [...byKeys.values()].map((same) => ({
    actions: same.map(([action]) => `dynamodb:${action}`),
    resource: 'table',
    keys: same[0]?.[1] ?? [],
  }))
}

const scheduleStatements = ({ schedulesInto }: Permissions): Statement[] =>
  schedulesInto
    ? [
        { actions: ['scheduler:CreateSchedule'], resource: 'schedules/*' },
        // Scheduler acts with it when the time has come.
        {
          actions: ['iam:PassRole'],
          resource: 'schedule-role',
          passedTo: 'scheduler.amazonaws.com',
        },
      ]
    : []

const sealingKeyStatements = ({ sealingKey }: Permissions): Statement[] =>
  sealingKey ? [{ actions: ['secretsmanager:GetSecretValue'], resource: 'sealing-key' }] : []

/** Nobody lists them, so S3 says of a report that is gone only that it is forbidden: a fault too. */
const reportStatements = ({ reports = [], journals = [] }: Permissions): Statement[] => [
  ...reports.map((use) => ({
    actions: reportActions[use],
    resource:
      use === 'generation'
        ? ('reports/restores/generation.json' as const)
        : ('reports/settlements/*/STL-*' as const),
  })),
  ...journals.map((use) => ({
    actions: reportActions[use],
    resource: 'reports/ledger/*' as const,
  })),
]

const reportActions = {
  read: ['s3:GetObject'],
  write: ['s3:PutObject', 's3:AbortMultipartUpload'],
  generation: ['s3:GetObject', 's3:PutObject'],
} as const

/** Without it, S3 does not say that an object is not there: before the first restore none is. */
const listStatements = ({ reports = [] }: Permissions): Statement[] =>
  reports.includes('generation') ? [{ actions: ['s3:ListBucket'], resource: 'reports' }] : []

/** An action on a resource, or on the items of one partition key: the least that can be allowed. */
export type Permission = { action: string; resource: string; key?: string }

export const permissionsIn = (statements: readonly Statement[]): Permission[] =>
  statements.flatMap(({ actions, resource, keys }) =>
    actions.flatMap((action) =>
      keys ? keys.map((key) => ({ action, resource, key })) : [{ action, resource }],
    ),
  )

export const formatPermission = ({ action, resource, key }: Permission): string =>
  [action, 'on', resource, ...(key === undefined ? [] : [key])].join(' ')
