import type { Permission } from '../infra/definitions/iam-statements.ts'
import { messages } from '../shared/queues/messages.ts'
import { queueUrlVariable } from '../shared/runtime.ts'

/**
 * What IAM asks of a role for each call of the AWS SDK: an action on a resource, and for items the
 * partition key that they are under.
 */

// biome-ignore lint/suspicious/noExplicitAny: the input of any command
type Input = any

const item = (action: string, key: { pk: string }): Permission => ({
  action: `dynamodb:${action}`,
  resource: 'table',
  key: key.pk,
})

/** The index's own partition key, where an index is asked. */
const query = ({
  IndexName,
  KeyConditionExpression,
  ExpressionAttributeValues,
}: Input): Permission => {
  const [, value = ''] = /^\S+ = (:\w+)/.exec(KeyConditionExpression) ?? []
  return {
    action: 'dynamodb:Query',
    resource: IndexName ? `index/${IndexName}` : 'table',
    key: String(ExpressionAttributeValues[value]),
  }
}

/** A transaction needs what its writes would need alone. */
const writeOf = ({ Put, Update, Delete, ConditionCheck }: Input): Permission => {
  if (Put) return item('PutItem', Put.Item)
  if (Update) return item('UpdateItem', Update.Key)
  if (Delete) return item('DeleteItem', Delete.Key)
  return item('ConditionCheckItem', ConditionCheck.Key)
}

/** An emulator has queues under longer names; what a function knows of one is its URL. */
const queueNamed = (url: string): string | undefined =>
  Object.keys(messages).find((name) => process.env[queueUrlVariable(name)] === url) ??
  url.split('/').at(-1)

const queue =
  (action: string) =>
  ({ QueueUrl }: Input): Permission[] => [{ action, resource: `queue/${queueNamed(QueueUrl)}` }]

const report =
  (action: string) =>
  ({ Key }: Input): Permission[] => [{ action, resource: `reports/${Key}` }]

const needs: Record<string, (input: Input) => Permission[]> = {
  GetCommand: ({ Key }) => [item('GetItem', Key)],
  PutCommand: ({ Item }) => [item('PutItem', Item)],
  UpdateCommand: ({ Key }) => [item('UpdateItem', Key)],
  DeleteCommand: ({ Key }) => [item('DeleteItem', Key)],
  QueryCommand: (input) => [query(input)],
  BatchGetCommand: ({ RequestItems }) =>
    Object.values<Input>(RequestItems).flatMap(({ Keys }) =>
      Keys.map((key: { pk: string }) => item('BatchGetItem', key)),
    ),
  TransactWriteCommand: ({ TransactItems }) => TransactItems.map(writeOf),
  SendMessageCommand: queue('sqs:SendMessage'),
  SendMessageBatchCommand: queue('sqs:SendMessage'),
  ChangeMessageVisibilityCommand: queue('sqs:ChangeMessageVisibility'),
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
  GetObjectCommand: report('s3:GetObject'),
  PutObjectCommand: report('s3:PutObject'),
  CreateMultipartUploadCommand: report('s3:PutObject'),
  UploadPartCommand: report('s3:PutObject'),
  CompleteMultipartUploadCommand: report('s3:PutObject'),
  AbortMultipartUploadCommand: report('s3:AbortMultipartUpload'),
}

type Command = { constructor: { name: string }; input: Input }

/** A command that is not known here needs what no row can give. */
export const requiredPermissions = (command: Command): Permission[] => {
  const { name } = command.constructor
  return needs[name]?.(command.input) ?? [{ action: name, resource: 'anything' }]
}
