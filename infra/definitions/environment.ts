import { operationNames } from '../../shared/api/operations.ts'
import type { QueueName } from '../../shared/queues/messages.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import type { FunctionName } from './function-permissions.ts'
import type { FunctionRow } from './functions.ts'
import { bucketAccesses } from './permissions.ts'
import { feedGroupsOf } from './quotas.ts'
import type { Stage } from './stages.ts'

export type StageSettings = Pick<
  Stage,
  | 'limits'
  | 'referencePrefix'
  | 'hasSandboxBank'
  | 'payoutsWaitForFunding'
  | 'openPromptsMax'
  | 'eraseAfterDays'
  | 'retainYears'
  | 'approvals'
  | 'claimedOperators'
  | 'bankClientCertificate'
  | 'privatePeers'
  | 'errorGuide'
> & {
  /** Absent in a sandbox: one group. */
  throttle?: Stage['throttle']
  stage: string
  /** Hosts of the API; webhooks must not target them. */
  ownHosts: readonly string[]
}

type Addresses = {
  tableName: string
  queueUrl: (queue: QueueName) => string
  queueArn: (queue: QueueName) => string
  scheduleGroup: string
  scheduleRoleArn: string
  sealingKeyArn: string
  reportsBucket: string
  auditBucket: string
  functionPrefix: string
}

/**
 * Functions that create or parse references, that check or send to webhook URLs, and that reply to
 * callers.
 */
const readers: Record<'referencePrefix' | 'ownHosts' | 'errorGuide', readonly FunctionName[]> = {
  referencePrefix: [
    ...operationNames,
    'manage-connector',
    'manage-bank',
    'manage-debit',
    'manage-delivery',
    'manage-reconciliation',
    'reconcile-day',
    'reconcile-part',
  ],
  ownHosts: ['test-webhook', 'manage-webhook', 'deliver-webhook', 'deliver-sidelined-webhook'],
  errorGuide: [...operationNames, 'answer-unmatched'],
}

/** Returns the environment of one function, the same in a stack and in the sandbox. */
export const environmentOf = (
  { name, permissions }: Pick<FunctionRow, 'name' | 'permissions'>,
  settings: StageSettings,
  addresses: Addresses,
): Record<string, string> => {
  const { sends = [], audit = [], invokes = [], calls } = permissions
  const { PutItem, UpdateItem, sealingKey, schedulesInto } = permissions
  const certificate = calls?.includes('banks') && settings.bankClientCertificate
  const readsBanks = [permissions.GetItem, permissions.Query].flat().includes('BANKS')
  const submits = PutItem?.includes('WAITING#*')
  const erases = [PutItem, UpdateItem].flat().includes('ERASURE#*')
  // A new debit has no expiry.
  const endsDebits = [PutItem, UpdateItem].flat().includes('DEBIT#*') && name !== 'charge'
  const lists = permissions['by-status'] ?? []
  const readsCases = lists.includes('EXCEPTIONS#*') && lists.includes('REFUNDS#*')
  const groups = settings.throttle ? feedGroupsOf({ throttle: settings.throttle }) : 1
  const waitsForFunding = settings.payoutsWaitForFunding && UpdateItem?.includes('FUNDS')
  return {
    STAGE: settings.stage,
    LIMITS: settings.limits,
    ...(readers.referencePrefix.includes(name) && { REFERENCE_PREFIX: settings.referencePrefix }),
    ...(readers.ownHosts.includes(name) && { OWN_HOSTS: settings.ownHosts.join(',') }),
    ...(settings.errorGuide &&
      readers.errorGuide.includes(name) && { ERROR_GUIDE: settings.errorGuide }),
    ...(settings.hasSandboxBank && readsBanks && { SANDBOX_BANK: 'true' }),
    ...(submits &&
      settings.openPromptsMax !== undefined && {
        OPEN_PROMPTS_MAX: String(settings.openPromptsMax),
      }),
    ...(settings.eraseAfterDays !== undefined &&
      erases && { ERASE_AFTER_DAYS: String(settings.eraseAfterDays) }),
    ...(settings.retainYears !== undefined &&
      (endsDebits || readsCases) && { RETAIN_YEARS: String(settings.retainYears) }),
    ...(waitsForFunding && { PAYOUTS_WAIT_FOR_FUNDING: 'true' }),
    ...(settings.approvals && name.startsWith('manage-') && { APPROVALS: 'true' }),
    ...(settings.claimedOperators && name.startsWith('manage-') && { CLAIMED_OPERATORS: 'true' }),
    ...(settings.privatePeers && { LOCAL_PEERS: settings.privatePeers.join(',') }),
    TABLE_NAME: addresses.tableName,
    ...Object.fromEntries(
      sends.map((queue) => [queueUrlVariable(queue), addresses.queueUrl(queue)]),
    ),
    ...(sends.includes('feeds.fifo') && groups > 1 && { FEED_GROUPS: String(groups) }),
    ...(sealingKey && { SEALING_KEY_ARN: addresses.sealingKeyArn }),
    ...(certificate && { BANK_CLIENT_CERTIFICATE_ARN: certificate.secretArn }),
    ...(invokes.length > 0 && { FUNCTION_PREFIX: addresses.functionPrefix }),
    ...(bucketAccesses(permissions).length > 0 && { REPORTS_BUCKET: addresses.reportsBucket }),
    ...(audit.length > 0 && { AUDIT_BUCKET: addresses.auditBucket }),
    ...(schedulesInto && {
      SCHEDULE_GROUP: addresses.scheduleGroup,
      SCHEDULE_ROLE_ARN: addresses.scheduleRoleArn,
      SCHEDULE_TARGET_ARN: addresses.queueArn(schedulesInto),
    }),
  }
}
