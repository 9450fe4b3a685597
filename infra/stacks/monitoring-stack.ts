import { Stack, type StackProps } from 'aws-cdk-lib'
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { defineAlarms } from '../constructs/alarm.ts'
import { defineAlarmTopics, defineCopyRule, defineKeyRule } from '../constructs/alarm-topics.ts'
import { defineDashboard } from '../constructs/dashboard.ts'
import { replicaBucket } from '../constructs/replication.ts'
import { alarmRows } from '../definitions/alarms.ts'
import { metricsOf } from '../definitions/metrics.ts'
import { backupOf } from '../definitions/recovery.ts'
import { stageName } from '../definitions/resource-name.ts'
import { rollbackAlarms } from '../definitions/rollback-alarms.ts'
import { savedQueries } from '../definitions/saved-queries.ts'
import type { Stage } from '../definitions/stages.ts'
import type { DataStack } from './data-stack.ts'
import type { JobsStack } from './jobs-stack.ts'

type MonitoringProps = StackProps & { stage: Stage; data: DataStack; jobs: JobsStack }

/** Defines alarms and dashboard. All metrics but those of the table have fixed names. */
export class MonitoringStack extends Stack {
  constructor(scope: Construct, id: string, { stage, data, jobs, ...props }: MonitoringProps) {
    super(scope, id, props)
    const topics = defineAlarmTopics(this, stage)
    if (stage.recordsInvocations) defineKeyRule(this, stage, data.key, topics.pages)
    // An alarm notifies when its state changes: one on missing work would have rung since the set-up.
    if (stage.waits) return
    const metrics = metricsOf(stage, data.table.tableName, {
      SourceBucket: data.reports.bucketName,
      DestinationBucket: replicaBucket(stage, stage.passive?.region ?? ''),
    })
    const rows = alarmRows(stage)
    if (backupOf(stage)?.copyTo) defineCopyRule(this, stage, topics.tickets)
    const alarms = defineAlarms(this, stage, rows, { metrics, topics })
    for (const [query, lines] of Object.entries(savedQueries)) {
      new CfnQueryDefinition(this, `${query}-query`, {
        name: `${stageName(stage.name)}/${query}`,
        queryString: lines.join('\n| '),
      })
    }
    const relayLog = jobs.logs.get('relay') ?? ''
    defineDashboard(this, stage, { metrics, alarms, rows: [...rows, ...rollbackAlarms], relayLog })
  }
}
