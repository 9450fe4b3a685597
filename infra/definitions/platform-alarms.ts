import { type AlarmRow, COUNTED, HIGHEST } from './alarm-row.ts'
import { backupOf } from './recovery.ts'
import type { Domain, PassiveRegion, Stage } from './stages.ts'

/** Alarms on quotas and services of AWS. */

export type PlatformSettings = Pick<
  Stage,
  'hasFirewall' | 'concurrencyQuota' | 'domain' | 'lake' | 'passive'
> &
  Parameters<typeof backupOf>[0]

/** Default quota of concurrent executions. */
const CONCURRENCY = 1_000

const rows: AlarmRow[] = [
  {
    name: 'table-reads-throttled',
    look: 'dashboard',
    description:
      'DynamoDB throttled reads of the table or an index: enable Contributor Insights of the table to find the hot partition',
    metric: (metrics) => metrics.tableThrottles('read'),
    periods: 3,
  },
  {
    name: 'table-writes-throttled',
    look: 'dashboard',
    description:
      'DynamoDB throttled writes to the table or an index: enable Contributor Insights of the table to find the hot partition',
    metric: (metrics) => metrics.tableThrottles('write'),
    periods: 3,
  },
  {
    // Short throttles of jobs need no operator: the event sources retry.
    name: 'functions-throttled',
    look: 'dashboard',
    description:
      'Functions of the account were throttled for 15 minutes: raise the quota "Concurrent executions" or reserved of the stage',
    metric: (metrics) => metrics.account('Throttles', COUNTED),
    periods: 3,
  },
  {
    name: 'schedules-throttled',
    look: 'dashboard',
    description: 'Scheduler delayed invocations: raise its quota "Invocations throttle limit"',
    metric: (metrics) => metrics.schedules('InvocationThrottleCount', COUNTED),
    periods: 3,
  },
  {
    // Scheduler retries for a day before it drops an invocation.
    name: 'schedule-targets-failing',
    look: 'operator dead-letters list',
    description:
      "Queues rejected messages of Scheduler: check the policy of the schedules' role and the queues",
    metric: (metrics) => metrics.schedules('TargetErrorCount', COUNTED),
    threshold: 5,
  },
  {
    name: 'schedules-dropped',
    look: 'operator dead-letters list',
    description:
      'Scheduler dropped invocations: redrive the dead letters of the target; the sweep expires the debits',
    metric: (metrics) => metrics.schedules('InvocationDroppedCount', COUNTED),
  },
  {
    name: 'schedule-dead-letters-lost',
    look: 'operator dead-letters list',
    description:
      "Scheduler could not write a dead letter: check the policy of the schedules' role; the sweep expires the debits",
    metric: (metrics) => metrics.schedules('InvocationsFailedToBeSentToDeadLetterCount', COUNTED),
  },
  {
    name: 'invocations-dropped',
    look: 'problems',
    description:
      'AWS stopped a recursive loop of invocations: find the function that sends to its own queue',
    metric: (metrics) => metrics.droppedInvocations(),
  },
]

/** Returns the rows whose threshold or existence depends on the stage. */
const stageRows = (stage: PlatformSettings): AlarmRow[] => [
  {
    name: 'concurrency-high',
    look: 'dashboard',
    description:
      'The account uses 80 % of its concurrent executions: raise the quota, then concurrencyQuota of the stage',
    metric: (metrics) => metrics.account('ConcurrentExecutions', HIGHEST),
    threshold: 0.8 * (stage.concurrencyQuota ?? CONCURRENCY),
  },
  ...(stage.hasFirewall ? [firewallRow] : []),
  ...(backupOf(stage) ? backupRows : []),
  ...(stage.lake ? [exportRow] : []),
  ...(stage.passive ? [replicaRow(stage.passive), reportsRow] : []),
  ...(stage.domain ? [domainCertificateRow(stage.domain)] : []),
]

const firewallRow: AlarmRow = {
  name: 'requests-blocked',
  look: 'firewall log',
  description:
    'The firewall blocked 100 requests in each of three times five minutes: find rule and address in its log, and call the provider if it is one',
  metric: (metrics) => metrics.blockedRequests(COUNTED),
  threshold: 100,
  periods: 3,
}

const backupRows: AlarmRow[] = [
  {
    name: 'backup-missing',
    look: 'backup vault',
    description:
      'No backup has completed for 36 hours: look for failed jobs of the vault in the console of AWS Backup',
    metric: (metrics) =>
      metrics.backups('NumberOfBackupJobsCompleted', { statistic: 'Sum', minutes: 60 }),
    below: true,
    periods: 36,
    firesWithoutData: true,
  },
  {
    name: 'backup-failed',
    look: 'backup vault',
    isEvent: true,
    description:
      'A backup job failed, expired or was aborted: read its message in the console of AWS Backup, then start it by hand',
    metric: (metrics) => metrics.failedBackups(),
  },
]

const exportRow: AlarmRow = {
  name: 'export-missing',
  look: 'dashboard',
  description:
    'No export of the table has completed for 36 hours: read the last executions of its state machine in Step Functions, then export each missing night',
  metric: (metrics) => metrics.exports({ statistic: 'Sum', minutes: 60 }),
  below: true,
  periods: 36,
  firesWithoutData: true,
}

/** It bounds what a loss of the Region loses; a replica is usually a second behind. */
const REPLICA_MS = 60_000

const replicaRow = ({ region }: PassiveRegion): AlarmRow => ({
  name: 'replica-late',
  look: 'dashboard',
  description:
    'The replica of the table is a minute behind or missing: check the health of both Regions, and that the key of the passive one is enabled; after a restore create the replica again',
  metric: (metrics) => metrics.replication(region, HIGHEST),
  threshold: REPLICA_MS,
  periods: 2,
  // The sweep writes each minute; a restored table has no replica.
  firesWithoutData: true,
})

const reportsRow: AlarmRow = {
  name: 'reports-not-replicated',
  look: 'dashboard',
  isEvent: true,
  description:
    'Reports or erasures did not reach the passive Region: check its key and the role of the replication, then copy them as at its set-up',
  metric: (metrics) => metrics.failedReplications(COUNTED),
}

/** A month before, so that a certificate that must be ordered is there in time. */
const CERTIFICATE_DAYS = 30
const LOWEST_OF_A_DAY = { statistic: 'Minimum', minutes: 1_440 }

const clientCertificateRow: AlarmRow = {
  name: 'client-certificate-expires',
  look: 'problems',
  isEvent: true,
  description:
    'The client certificate for banks expires within 30 days: put a new one into its secret, which banks must accept first',
  metric: (metrics) => metrics.service('ClientCertificateDays', LOWEST_OF_A_DAY),
  threshold: CERTIFICATE_DAYS,
  below: true,
}

const domainCertificateRow = ({ certificateArn }: Domain): AlarmRow => ({
  name: 'domain-certificate-expires',
  look: 'dashboard',
  description:
    'The certificate of the domain expires within 30 days: find in the console of Certificate Manager why it was not renewed',
  metric: (metrics) => metrics.certificateDays(certificateArn, LOWEST_OF_A_DAY),
  threshold: CERTIFICATE_DAYS,
  below: true,
})

/** The alarm of the probe, in its own Region. */
export const probeRow: AlarmRow = {
  name: 'probe-failing',
  look: 'probe log',
  to: 'page',
  description:
    'The probe in another Region has failed for three minutes: find "probe failed" in its log, then check the Region, domain.name, its certificate and the firewall',
  metric: (metrics) => metrics.probes(),
  below: true,
  periods: 3,
  firesWithoutData: true,
}

export const platformRows = (stage: PlatformSettings): AlarmRow[] => [
  ...rows,
  clientCertificateRow,
  ...stageRows(stage),
]
