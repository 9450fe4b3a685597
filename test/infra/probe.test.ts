import { Match, Template } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { completeStage } from '../../infra/definitions/complete-stage.ts'
import { InvalidStage, type Stage, stageNamed } from '../../infra/definitions/stages.ts'
import { defineProbe } from '../../infra/stacks/stage-stacks.ts'
import { findingsIn, propertiesOf, unvalidatedApp } from '../support/templates.ts'

const alarmsTo = { pages: 'pages@example.com', tickets: 'tickets@example.com' }
const stages: Record<string, Stage> = {
  complete: completeStage,
  sandbox: { ...stageNamed('sandbox'), alarmsTo },
}

const probeOf = (stage: Stage, region: unknown = 'eu-central-1') => {
  const app = unvalidatedApp()
  const stack = defineProbe(app, stage, region)
  return { app, stack, template: Template.fromStack(stack) }
}

test.each(Object.entries(stages))(
  'the probe of %s has no finding, its own Region, and no part of the stage',
  (name, stage) => {
    const { app, stack, template } = probeOf(stage)
    expect(findingsIn(app)).toEqual([])
    expect(stack.region).toBe('eu-central-1')
    expect(JSON.stringify(template.toJSON())).not.toContain('Fn::ImportValue')
    const functions = propertiesOf(template, 'AWS::Lambda::Function')
    expect(functions.map(({ FunctionName }) => FunctionName)).toEqual([
      `debit-collection-${name}-probe`,
      `debit-collection-${name}-probe-webhooks`,
    ])
    for (const { Environment } of functions) {
      const bank = stage.hasSandboxBank ? { SANDBOX_BANK: 'true' } : {}
      const secret = expect.objectContaining({ Ref: expect.stringMatching(/^Secret/) })
      expect(Environment.Variables).toEqual({ STAGE: name, PROBE_SECRET_ARN: secret, ...bank })
    }
  },
)

test('the functions of a probe read its secret and write their logs, and may do nothing else', () => {
  const { template } = probeOf(completeStage)
  const policies = propertiesOf(template, 'AWS::IAM::Policy')
  expect(policies).toHaveLength(2)
  for (const { PolicyDocument } of policies) {
    const statements = PolicyDocument.Statement as { Action: string[]; Resource: object }[]
    expect(statements.flatMap(({ Action }) => Action)).toEqual([
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      'secretsmanager:GetSecretValue',
      'secretsmanager:DescribeSecret',
    ])
    expect(JSON.stringify(statements.map(({ Resource }) => Resource))).not.toContain('*')
  }
})

test('a probe runs each minute once, and three minutes without success notify its own topic', () => {
  const { template } = probeOf(completeStage)
  template.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 minute)',
    State: 'ENABLED',
    Targets: [Match.objectLike({ RetryPolicy: { MaximumRetryAttempts: 0 } })],
  })
  const topic = { Ref: Match.stringLikeRegexp('^Pages') }
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    AlarmName: 'debit-collection-complete-probe-failing',
    MetricName: 'ProbeSucceeded',
    Dimensions: [{ Name: 'service', Value: 'debit-collection-complete' }],
    ...{ Statistic: 'Sum', Period: 60, EvaluationPeriods: 3, Threshold: 1 },
    ComparisonOperator: 'LessThanThreshold',
    TreatMissingData: 'breaching',
    ...{ AlarmActions: [topic], OKActions: [topic] },
  })
  template.hasResourceProperties('AWS::SNS::Subscription', {
    Endpoint: completeStage.alarmsTo?.pages,
  })
  // The fixed price of a month (docs/deployment.md#probe).
  for (const type of ['CloudWatch::Alarm', 'KMS::Key', 'SecretsManager::Secret'])
    template.resourceCountIs(`AWS::${type}`, 1)
})

test.each([
  [completeStage, true, 'must be a Region'],
  [completeStage, 'Ghana', 'must be a Region'],
  [completeStage, 'af-south-1', 'another Region than af-south-1'],
  [stageNamed('production'), 'eu-central-1', 'production has no alarmsTo'],
])('a probe of %o in %j is refused', (stage, region, reason) => {
  expect(() => probeOf(stage, region)).toThrow(InvalidStage)
  expect(() => probeOf(stage, region)).toThrow(reason)
})
