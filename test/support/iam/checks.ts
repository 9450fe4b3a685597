import { deadLetters, queueNames } from '../../../shared/queues/messages.ts'
import { queueUrlVariable } from '../../../shared/runtime.ts'
import type { Call } from '../permissions/calls.ts'
import type { TemplateNode } from '../templates.ts'
import { type DeployedStage, queueArn } from './deployed-stage.ts'
import { ACCOUNT, REGION } from './resolve-templates.ts'
import type { IamCheck } from './simulate.ts'

/** The checks that IAM makes for the calls of a stage's functions and of AWS on their behalf. */

const regional = (service: string, path: string) =>
  `arn:aws:${service}:${REGION}:${ACCOUNT}:${path}`

/** Returns the ARN of a permission's resource, from the variables of the function. */
export const arnFor = (stage: DeployedStage, name: string, resource: string): string => {
  const { Variables } = stage.functionNamed(name).Environment
  const [kind, ...rest] = resource.split('/')
  const path = rest.join('/')
  switch (kind) {
    case 'table':
      return regional('dynamodb', `table/${Variables.TABLE_NAME}`)
    case 'index':
      return regional('dynamodb', `table/${Variables.TABLE_NAME}/index/${path}`)
    case 'queue': {
      const source = queueNames.find((queue) => deadLetters(queue) === path)
      if (source) return deadLetters(queueArn(Variables[queueUrlVariable(source)]))
      const url = Variables[queueUrlVariable(path)]
      return url ? queueArn(url) : consumedQueue(stage, name, path)
    }
    case 'schedules':
      return regional('scheduler', `schedule/${Variables.SCHEDULE_GROUP}/${path}`)
    case 'schedule-role':
      return Variables.SCHEDULE_ROLE_ARN
    case 'sealing-key':
      return Variables.SEALING_KEY_ARN
    case 'reports':
      return `arn:aws:s3:::${Variables.REPORTS_BUCKET}/${path}`
    case 'audit':
      return `arn:aws:s3:::${Variables.AUDIT_BUCKET}/${path}`
    case 'function':
      return regional('lambda', `function:${Variables.FUNCTION_PREFIX}${path}`)
    default:
      return resource
  }
}

/** Returns the mappings of a function, whose name is part of an ARN if it has a qualifier. */
export const mappingsOf = (stage: DeployedStage, name: string): TemplateNode[] => {
  const { FunctionName } = stage.functionNamed(name)
  return stage
    .propertiesOf('AWS::Lambda::EventSourceMapping')
    .filter((mapping) => mapping.FunctionName.split(':').includes(FunctionName))
}

/** A message's record has the ARN of its queue. */
const consumedQueue = (stage: DeployedStage, name: string, queue: string): string =>
  mappingsOf(stage, name)
    .map(({ EventSourceArn }) => EventSourceArn)
    .find((arn) => arn.endsWith(`-${queue}`)) ?? `no mapping of ${queue}`

const leadingKeys = (keys: readonly string[]) =>
  keys.length > 0 ? { 'dynamodb:LeadingKeys': [...keys] } : {}

/**
 * Returns the checks for a call. AWS does not document the keys of a transaction's checks: each
 * write is checked with its own key, and with all keys.
 */
export const checksOf = (stage: DeployedStage, { name, command, checks }: Call): IamCheck[] => {
  const principal = stage.functionNamed(name).Role
  const allKeys = checks.flatMap(({ required: { key } }) => key ?? [])
  const own = checks.map(({ required: { action, resource, key } }) => ({
    principal,
    action,
    resource: arnFor(stage, name, resource),
    context: {
      ...leadingKeys(key === undefined ? [] : [key]),
      ...(action === 'iam:PassRole' && { 'iam:PassedToService': 'scheduler.amazonaws.com' }),
    },
  }))
  const joined = own.map((check) => ({ ...check, context: leadingKeys(allKeys) }))
  const keys = own.flatMap(({ action }) => keyChecks(stage, principal, action))
  if (command === 'BatchGetCommand') return [...joined, ...keys]
  return [...own, ...(command === 'TransactWriteCommand' ? joined : []), ...keys]
}

/** Actions on the key, by action of the service that calls KMS on behalf of the function. */
const keyActions: Record<string, string[]> = {
  'dynamodb:*': ['Decrypt'],
  's3:GetObject': ['Decrypt'],
  // The parts of an upload are decrypted when it completes.
  's3:PutObject': ['GenerateDataKey', 'Decrypt'],
  'secretsmanager:GetSecretValue': ['Decrypt'],
}

/** The service gets access to the key with the function's permissions. */
const keyChecks = (stage: DeployedStage, principal: string, serviceAction: string): IamCheck[] => {
  const [service] = serviceAction.split(':')
  const actions = keyActions[serviceAction] ?? keyActions[`${service}:*`] ?? []
  return actions.flatMap((action) =>
    stage
      .arnsOf('AWS::KMS::Key')
      .map((resource) => ({
        principal,
        action: `kms:${action}`,
        resource,
        context: { 'kms:ViaService': `${service}.${REGION}.amazonaws.com` },
      })),
  )
}
