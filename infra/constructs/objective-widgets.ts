import { Duration } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type { Metrics } from '../definitions/metrics.ts'
import { budgetOf, expressed, failureShare, objectives } from '../definitions/objectives.ts'

const MONTH_MINUTES = 30 * 24 * 60
const HOUR = 60

/** Shows what each objective attained in 30 days, the rest of its budget, and the rate of each hour. */
export const objectiveWidgets = (metrics: Metrics): cloudwatch.IWidget[][] => {
  const figures = objectives.map((objective) => {
    const { failures, all, title, target } = objective
    const share = `100 * ${failures} / ${all}`
    const shown = [
      [`Attained (%), of ${target}`, `100 - ${share}`],
      ['Budget left (%)', `100 - 100 * ${share} / ${budgetOf(objective)}`],
    ] as const
    return new cloudwatch.SingleValueWidget({
      title,
      width: 6,
      height: 4,
      metrics: shown.map(([label, expression]) =>
        expressed(objective, expression, metrics, MONTH_MINUTES).with({ label }),
      ),
      start: '-P30D',
      setPeriodToTimeRange: true,
    })
  })
  const burns = objectives.map((objective) =>
    failureShare(objective, metrics, HOUR).with({ label: `${objective.title}: failures (%)` }),
  )
  const annotations = objectives.map((objective) => ({
    value: budgetOf(objective),
    label: `budget of ${objective.name}`,
  }))
  return [
    figures,
    [
      new cloudwatch.GraphWidget({
        title: 'Failures of objectives in an hour (%)',
        width: 24,
        height: 6,
        left: burns,
        leftAnnotations: annotations,
        period: Duration.hours(1),
      }),
    ],
  ]
}
