import { Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { defineAlarms } from '../constructs/alarm.ts'
import { defineDashboard } from '../constructs/dashboard.ts'
import { alarmRows } from '../definitions/alarms.ts'
import { metricsOf } from '../definitions/metrics.ts'
import type { Stage } from '../definitions/stages.ts'
import type { DataStack } from './data-stack.ts'

/** Defines alarms and dashboard; they refer to metrics by names, so they never delay a deployment. */
export class MonitoringStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { stage, data, ...props }: StackProps & { stage: Stage; data: DataStack },
  ) {
    super(scope, id, props)
    const metrics = metricsOf(stage, data.table.tableName)
    defineAlarms(this, stage, alarmRows(stage), metrics)
    defineDashboard(this, stage, metrics)
  }
}
