import { deadLetters, type QueueName } from '../../shared/queues/messages.ts'
import { keys as itemKeys } from '../../shared/store/keys.ts'
import { type FunctionName, permissionsOf } from './function-permissions.ts'
import type { IamResource } from './iam-resources.ts'
import { type JobName, jobRow, jobs } from './jobs.ts'
import { bucketAccesses, indexNames, itemActions, type Permissions } from './permissions.ts'
import type { Stage } from './stages.ts'

/** Derives each function's IAM statements from its permissions, with resource names for ARNs. */

export type IamStatement = {
  /** Default: the statement allows. */
  effect?: 'Deny'
  actions: readonly string[]
  resource: IamResource
  /** `dynamodb:LeadingKeys`: patterns of partition keys. */
  keys?: readonly string[]
  /** `kms:ViaService`: the service that may use the key on the function's behalf. */
  via?: string
  /** `iam:PassedToService` */
  passedTo?: string
  /** Whether only Lambda itself may make the calls, not the function's code. */
  byLambdaOnly?: true
}

type EgressSettings = Pick<Stage, 'network' | 'bankClientCertificate'>

/** Returns the statements of a function's role. */
export const roleStatements = (
  name: FunctionName,
  permissions = permissionsOf(name),
  settings: EgressSettings = {},
): IamStatement[] => [
  ...codeStatements(name, withJoinedWrites(permissions)),
  ...platformStatements(name, permissions),
  keepsChangeRecords,
  ...egressStatements(permissions, settings),
]

/** Returns the statements for calls by the function's code; the sandbox enforces them. */
export const codeStatements = (
  name: FunctionName,
  permissions = permissionsOf(name),
): IamStatement[] => {
  const { sends = [], redrives, invokes = [] } = permissions
  const { reports = [], journals = [], customers = [], erasures = [], audit = [] } = permissions
  return [
    ...itemStatements(permissions),
    ...listsNamed(indexNames, permissions).map(([index, keys]) => ({
      ...allow(['dynamodb:Query'], `index/${index}`),
      keys,
    })),
    ...sends.map((queue) => allow(['sqs:SendMessage'], `queue/${queue}`)),
    ...(redrives ? sends : []).map((queue) =>
      allow(CONSUMER_ACTIONS, `queue/${deadLetters(queue)}`),
    ),
    // Shortens the visibility timeout of a failed message.
    ...consumedQueues(name).map((queue) =>
      allow(['sqs:ChangeMessageVisibility'], `queue/${queue}`),
    ),
    ...(permissions.schedulesInto ? scheduleStatements : []),
    ...(permissions.sealingKey ? [allow(['secretsmanager:GetSecretValue'], 'sealing-key')] : []),
    // Without `s3:ListBucket`, S3 answers 403 for a missing report, which is a fault as well.
    ...reports.map((access) =>
      access === 'generation'
        ? allow(['s3:GetObject', 's3:PutObject'], 'reports/restores/generation.json')
        : allow(objectActions[access], 'reports/settlements/*/STL-*'),
    ),
    ...journals.map((access) => allow(objectActions[access], 'reports/ledger/*')),
    ...audit.map((access) => allow(objectActions[access], 'audit/*')),
    // The bucket removes parts of an export that fails.
    ...customers.map((access) => allow(limitedActions[access], 'reports/exports/*')),
    ...[...customers, ...erasures].map((access) =>
      allow(limitedActions[access], 'reports/erasures/*'),
    ),
    ...invokes.map((name) => allow(['lambda:InvokeFunction'], `function/${name}`)),
  ]
}

/** Returns the statements for calls by AWS on the function's behalf: polling, logs, encryption. */
const platformStatements = (name: FunctionName, permissions: Permissions): IamStatement[] => [
  allow(['logs:CreateLogStream', 'logs:PutLogEvents'], 'log'),
  ...consumedQueues(name).map((queue) => allow(CONSUMER_ACTIONS, `queue/${queue}`)),
  ...(readsStream(name) ? streamStatements : []),
  ...keyStatements(permissions),
  ...listStatements(permissions),
]

/** Let S3 answer 404 for the generation before the first restore, and for a day without a seal. */
const listStatements = ({ reports, audit }: Permissions): IamStatement[] => [
  ...(reports?.includes('generation') ? [allow(['s3:ListBucket'], 'reports')] : []),
  ...(audit ? [allow(['s3:ListBucket'], 'audit')] : []),
]

/**
 * Denies the removal and update of change records to every function. A transaction that writes one
 * with other items passes, whether AWS checks each write with its own key or with all keys.
 */
const keepsChangeRecords: IamStatement = {
  effect: 'Deny',
  actions: ['dynamodb:DeleteItem', 'dynamodb:UpdateItem'],
  resource: 'table',
  keys: [itemKeys.changes.pk],
}

const allow = (actions: readonly string[], resource: IamResource): IamStatement => ({
  actions,
  resource,
})

const CONSUMER_ACTIONS = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']

const objectActions = { read: ['s3:GetObject'], write: ['s3:PutObject', 's3:AbortMultipartUpload'] }
const limitedActions = { ...objectActions, write: ['s3:PutObject'] }

/** Actions that DynamoDB documents for writers of an encrypted table, in addition to those of readers. */
const KEY_WRITE_ACTIONS = [
  'Encrypt',
  'GenerateDataKey',
  'GenerateDataKeyWithoutPlaintext',
  'ReEncryptFrom',
  'ReEncryptTo',
]

/** Allows the key actions that the documentation of each called service requires. */
const keyStatements = (permissions: Permissions): IamStatement[] => {
  const { audit = [], sealingKey } = permissions
  const accesses = [...bucketAccesses(permissions), ...audit]
  const writesTable = writeActions.some((action) => permissions[action])
  const writesBucket = accesses.some((access) => access !== 'read')
  return [
    keyStatement('dynamodb', ['Decrypt', 'DescribeKey', ...(writesTable ? KEY_WRITE_ACTIONS : [])]),
    // S3 decrypts the parts of an upload when it completes.
    ...(accesses.length > 0
      ? [keyStatement('s3', ['Decrypt', ...(writesBucket ? ['GenerateDataKey'] : [])])]
      : []),
    ...(sealingKey ? [keyStatement('secretsmanager', ['Decrypt'])] : []),
  ]
}

const keyStatement = (service: string, actions: readonly string[]): IamStatement => ({
  ...allow(
    actions.map((action) => `kms:${action}`),
    'key',
  ),
  via: service,
})

const INTERFACE_ACTIONS = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
]

/** Returns the statements for optional settings of a stage. */
const egressStatements = (
  { calls = [] }: Permissions,
  { network, bankClientCertificate }: EgressSettings,
): IamStatement[] => {
  const certificate = calls.includes('banks') ? bankClientCertificate : undefined
  return [
    ...(certificate ? [allow(['secretsmanager:GetSecretValue'], 'client-certificate')] : []),
    ...(certificate?.keyArn
      ? [{ ...allow(['kms:Decrypt'], 'client-certificate-key'), via: 'secretsmanager' }]
      : []),
    ...(network && calls.length > 0
      ? [{ ...allow(INTERFACE_ACTIONS, 'network-interfaces'), byLambdaOnly: true } as const]
      : []),
  ]
}

const streamStatements = [
  allow(['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], 'stream'),
  allow(['dynamodb:ListStreams'], '*'),
  allow(['sqs:SendMessage'], 'lost-records'),
]

/** Scheduler assumes the role to send the message. */
const scheduleStatements = [
  allow(['scheduler:CreateSchedule'], 'schedules/*'),
  { ...allow(['iam:PassRole'], 'schedule-role'), passedTo: 'scheduler.amazonaws.com' },
]

const isJob = (name: FunctionName): name is JobName => name in jobs

const readsStream = (name: FunctionName): boolean => isJob(name) && 'stream' in jobRow(name).from

const consumedQueues = (name: FunctionName): readonly QueueName[] => {
  if (!isJob(name)) return []
  const { from } = jobRow(name)
  return 'queues' in from ? from.queues : []
}

/** Returns the lists of keys in a row that have one of the names. */
const listsNamed = <N extends string>(names: readonly N[], permissions: Permissions) =>
  Object.entries(permissions).filter(([name]) => names.includes(name as N)) as [N, string[]][]

const writeActions = ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'] as const

/**
 * Gives all writes the same keys. AWS does not document whether it checks a write of a transaction
 * with its own key or with all keys of the transaction.
 */
const withJoinedWrites = (permissions: Permissions): Permissions => {
  const writes = writeActions.filter((action) => permissions[action])
  const keys = [...new Set(writes.flatMap((action) => permissions[action] ?? []))]
  return { ...permissions, ...Object.fromEntries(writes.map((action) => [action, keys])) }
}

/** Merges actions on the same keys into one statement, because the size of a policy is limited. */
const itemStatements = (permissions: Permissions): IamStatement[] => {
  const byKeys = Map.groupBy(listsNamed(itemActions, permissions), ([, keys]) =>
    keys.toSorted().join(),
  )
  return [...byKeys.values()].map((entries) => ({
    actions: entries.map(([action]) => `dynamodb:${action}`),
    resource: 'table',
    keys: entries[0]?.[1] ?? [],
  }))
}

/** A single action on a resource or on the items of one partition key. */
export type Permission = { effect?: 'Deny'; action: string; resource: string; key?: string }

export const permissionsIn = (statements: readonly IamStatement[]): Permission[] =>
  statements.flatMap(({ effect, actions, resource, keys }) =>
    actions.flatMap((action) => {
      const permission = { ...(effect && { effect }), action, resource }
      return keys ? keys.map((key) => ({ ...permission, key })) : [permission]
    }),
  )

export const formatPermission = ({ effect, action, resource, key }: Permission): string =>
  [...(effect ? [effect] : []), action, 'on', resource, ...(key === undefined ? [] : [key])].join(
    ' ',
  )
