import type { Permission } from '../infra/definitions/iam-statements.ts'

/** Maps each SDK command to the permissions that IAM requires for it. */

// biome-ignore lint/suspicious/noExplicitAny: the input of any command
type CommandInput = any

const item = (action: string, key: { pk: string }): Permission => ({
  action: `dynamodb:${action}`,
  resource: 'table',
  key: key.pk,
})

/** Reads the partition key of the table or index from the key condition. */
const query = ({ IndexName, KeyConditionExpression, ExpressionAttributeValues }: CommandInput) => {
  const [, value = ''] = /^\S+ = (:\w+)/.exec(KeyConditionExpression) ?? []
  return {
    action: 'dynamodb:Query',
    resource: IndexName ? `index/${IndexName}` : 'table',
    key: String(ExpressionAttributeValues[value]),
  }
}

/** A transaction requires the permissions of its writes. */
const writeOf = ({ Put, Update, Delete, ConditionCheck }: CommandInput): Permission => {
  if (Put) return item('PutItem', Put.Item)
  if (Update) return item('UpdateItem', Update.Key)
  if (Delete) return item('DeleteItem', Delete.Key)
  return item('ConditionCheckItem', ConditionCheck.Key)
}

const queue =
  (action: string) =>
  ({ QueueUrl }: CommandInput) => [{ action, resource: `queue/${QueueUrl.split('/').at(-1)}` }]

const object =
  (action: string) =>
  ({ Bucket, Key }: CommandInput): Permission[] => {
    const kind = /audit$/.test(Bucket) ? 'audit' : 'reports'
    return [{ action, resource: `${kind}/${Key}` }]
  }

const permissionsByCommand: Record<string, (input: CommandInput) => Permission[]> = {
  GetCommand: ({ Key }) => [item('GetItem', Key)],
  PutCommand: ({ Item }) => [item('PutItem', Item)],
  UpdateCommand: ({ Key }) => [item('UpdateItem', Key)],
  DeleteCommand: ({ Key }) => [item('DeleteItem', Key)],
  QueryCommand: (input) => [query(input)],
  BatchGetCommand: ({ RequestItems }) =>
    Object.values<CommandInput>(RequestItems).flatMap(({ Keys }) =>
      Keys.map((key: { pk: string }) => item('BatchGetItem', key)),
    ),
  TransactWriteCommand: ({ TransactItems }) => TransactItems.map(writeOf),
  SendMessageCommand: queue('sqs:SendMessage'),
  SendMessageBatchCommand: queue('sqs:SendMessage'),
  ChangeMessageVisibilityCommand: queue('sqs:ChangeMessageVisibility'),
  ReceiveMessageCommand: queue('sqs:ReceiveMessage'),
  DeleteMessageBatchCommand: queue('sqs:DeleteMessage'),
  GetQueueAttributesCommand: queue('sqs:GetQueueAttributes'),
  CreateScheduleCommand: ({ Name }) => [
    { action: 'scheduler:CreateSchedule', resource: `schedules/${Name}` },
    { action: 'iam:PassRole', resource: 'schedule-role' },
  ],
  InvokeCommand: ({ FunctionName }) => [
    { action: 'lambda:InvokeFunction', resource: `function/${FunctionName}` },
  ],
  GetSecretValueCommand: () => [
    { action: 'secretsmanager:GetSecretValue', resource: 'sealing-key' },
  ],
  GetObjectCommand: object('s3:GetObject'),
  PutObjectCommand: object('s3:PutObject'),
  CreateMultipartUploadCommand: object('s3:PutObject'),
  UploadPartCommand: object('s3:PutObject'),
  CompleteMultipartUploadCommand: object('s3:PutObject'),
  AbortMultipartUploadCommand: object('s3:AbortMultipartUpload'),
}

export type SdkCommand = { constructor: { name: string }; input: CommandInput }

/** Returns a permission that no function has for a command that is not listed. */
export const requiredPermissions = (command: SdkCommand): Permission[] => {
  const { name } = command.constructor
  return permissionsByCommand[name]?.(command.input) ?? [{ action: name, resource: 'anything' }]
}
