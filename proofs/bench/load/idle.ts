import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { stageNamed } from '../../../infra/definitions/stages.ts'
import { defineStage } from '../../../infra/stacks/stage-stacks.ts'
import { emptyReceives, priceOf } from './bill.ts'
import type { UsageByFunction } from './usage.ts'

/** The bill of a month without debits: resources of the production stage, polls, and recurring runs. */

const MONTH_SECONDS = 30 * 86_400
const MONTH_DAYS = 30
/** Lambda keeps this many long polls of 20 s open for each queue. */
const POLLERS = 5
const POLL_SECONDS = 20

/** US dollars a month. */
const RESOURCES: Record<string, number> = {
  'AWS::CloudWatch::Alarm': 0.1,
  'AWS::CloudWatch::CompositeAlarm': 0.5,
  'AWS::CloudWatch::Dashboard': 3,
  'AWS::KMS::Key': 1,
  'AWS::SecretsManager::Secret': 0.4,
  'AWS::WAFv2::WebACL': 5,
}
const WAF_RULE = 1
/** Of the metrics that functions publish without debits: runs and lag of the sweep, and the night's. */
const IDLE_METRICS = 6
const METRIC = 0.3

type IdleBill = readonly (readonly [label: string, dollars: number])[]

/**
 * @param idle the usage of a run without debits
 * @param nights the settlements in it
 */
export const idleMonth = (idle: UsageByFunction, nights: number): IdleBill => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } })
  const stacks = defineStage(app, stageNamed('production'))
  const templates = Object.values(stacks).map((stack) => Template.fromStack(stack))
  const resources = templates.flatMap((template) =>
    Object.values(template.toJSON().Resources as Record<string, Resource>),
  )
  const fixed = resources.reduce((sum, { Type }) => sum + (RESOURCES[Type] ?? 0), 0)
  const rules = resources.reduce((sum, { Properties }) => sum + (Properties?.Rules?.length ?? 0), 0)
  const queues = resources.filter(
    ({ Type, Properties }) =>
      Type === 'AWS::Lambda::EventSourceMapping' && Properties?.StartingPosition === undefined,
  )
  const sweep = idle.get('sweep')
  const sweeps = sweep ? (priceOf(sweep) / sweep.invocations) * (MONTH_SECONDS / 60) : 0
  const others = [...idle].filter(([name]) => name !== 'sweep')
  const nightly = others.reduce((sum, [, usage]) => sum + priceOf(usage), 0) * (MONTH_DAYS / nights)
  return [
    ['alarms, dashboard, key, secrets, WAF', fixed + rules * WAF_RULE],
    ['metrics', IDLE_METRICS * METRIC],
    [
      'empty receives of SQS',
      emptyReceives(queues.length * POLLERS * (MONTH_SECONDS / POLL_SECONDS)),
    ],
    ['sweeps', sweeps],
    ['nightly runs', nightly],
  ]
}

type Resource = {
  Type: string
  Properties?: { Rules?: readonly unknown[]; StartingPosition?: string }
}
