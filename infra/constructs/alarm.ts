import type { Stack } from 'aws-cdk-lib'
import {
  Alarm,
  AlarmRule,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarm,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { AlarmRow } from '../definitions/alarm-row.ts'
import type { Metrics } from '../definitions/metrics.ts'
import { burnRows } from '../definitions/objectives.ts'
import { resourceName } from '../definitions/resource-name.ts'
import { rollbackAlarms } from '../definitions/rollback-alarms.ts'
import type { Stage } from '../definitions/stages.ts'
import type { AlarmTopics } from './alarm-topics.ts'

export type ShownAlarms = { pages: IAlarm[]; others: IAlarm[] }

/** Defines alarms that notify each by itself: none is silent because another one rings. */
export const defineAlarms = (
  stack: Stack,
  stage: Stage,
  rows: readonly AlarmRow[],
  { metrics, topics }: { metrics: Metrics; topics: AlarmTopics },
): ShownAlarms => {
  const burns = burnRows.map(({ spans, ...row }) => {
    const rules = spans.map((span) => defineAlarm(stack, stage, span, metrics))
    const alarm = new CompositeAlarm(stack, `${row.name}-alarm`, {
      compositeAlarmName: resourceName(row.name, stage.name),
      alarmDescription: row.description,
      alarmRule: AlarmRule.allOf(...rules),
    })
    return { row, alarm }
  })
  const alarms = [
    ...burns,
    ...rows.map((row) => ({ row, alarm: defineAlarm(stack, stage, row, metrics) })),
  ]
  for (const { row, alarm } of alarms) {
    const action = new SnsAction(row.to === 'page' ? topics.pages : topics.tickets)
    alarm.addAlarmAction(action)
    if (!('isEvent' in row)) alarm.addOkAction(action)
  }
  const [pages, tickets] = [true, false].map((isPage) =>
    alarms.flatMap(({ row, alarm }) => ((row.to === 'page') === isPage ? [alarm] : [])),
  )
  // The API stack defines these alarms.
  const rollbacks = rollbackAlarms.map(({ name }) =>
    Alarm.fromAlarmName(stack, name, resourceName(name, stage.name)),
  )
  return { pages: pages ?? [], others: [...(tickets ?? []), ...rollbacks] }
}

export const defineAlarm = (stack: Stack, stage: Stage, row: AlarmRow, metrics: Metrics): Alarm =>
  new Alarm(stack, `${row.name}-alarm`, {
    alarmName: resourceName(row.name, stage.name),
    alarmDescription: row.description,
    metric: row.metric(metrics),
    threshold: row.threshold ?? 1,
    evaluationPeriods: row.periods ?? 1,
    comparisonOperator: row.below
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: row.firesWithoutData
      ? TreatMissingData.BREACHING
      : TreatMissingData.NOT_BREACHING,
  })
