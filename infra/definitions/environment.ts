import type { QueueName } from '../../shared/queues/messages.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import type { FunctionRow } from './functions.ts'
import type { Stage } from './stages.ts'

export type StageSettings = Pick<
  Stage,
  | 'referencePrefix'
  | 'hasSandboxBank'
  | 'payoutsWaitForFunding'
  | 'approvals'
  | 'bankClientCertificate'
> & {
  stage: string
  /** Hosts of the API; webhooks must not target them. */
  ownHosts: readonly string[]
}

export type Addresses = {
  tableName: string
  queueUrl: (queue: QueueName) => string
  queueArn: (queue: QueueName) => string
  scheduleGroup: string
  scheduleRoleArn: string
  sealingKeyArn: string
  reportsBucket: string
  functionPrefix: string
}

/** Returns the environment of one function, the same in a stack and in the sandbox. */
export const environmentOf = (
  { permissions }: Pick<FunctionRow, 'permissions'>,
  settings: StageSettings,
  addresses: Addresses,
): Record<string, string> => {
  const { sends = [], reports = [], journals = [], invokes = [], calls } = permissions
  const { UpdateItem, sealingKey, schedulesInto } = permissions
  const certificate = calls?.includes('banks') && settings.bankClientCertificate
  const waitsForFunding = settings.payoutsWaitForFunding && UpdateItem?.includes('FUNDS')
  return {
    STAGE: settings.stage,
    REFERENCE_PREFIX: settings.referencePrefix,
    OWN_HOSTS: settings.ownHosts.join(','),
    ...(settings.hasSandboxBank && { SANDBOX_BANK: 'true' }),
    ...(waitsForFunding && { PAYOUTS_WAIT_FOR_FUNDING: 'true' }),
    ...(settings.approvals && { APPROVALS: 'true' }),
    TABLE_NAME: addresses.tableName,
    ...Object.fromEntries(
      sends.map((queue) => [queueUrlVariable(queue), addresses.queueUrl(queue)]),
    ),
    ...(sealingKey && { SEALING_KEY_ARN: addresses.sealingKeyArn }),
    ...(certificate && { BANK_CLIENT_CERTIFICATE_ARN: certificate.secretArn }),
    ...(invokes.length > 0 && { FUNCTION_PREFIX: addresses.functionPrefix }),
    ...(reports.length + journals.length > 0 && { REPORTS_BUCKET: addresses.reportsBucket }),
    ...(schedulesInto && {
      SCHEDULE_GROUP: addresses.scheduleGroup,
      SCHEDULE_ROLE_ARN: addresses.scheduleRoleArn,
      SCHEDULE_TARGET_ARN: addresses.queueArn(schedulesInto),
    }),
  }
}
