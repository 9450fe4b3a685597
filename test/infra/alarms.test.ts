import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { deadLetters } from '../../infra/definitions/queues.ts'
import { jobsOf, queuesOf } from '../../infra/definitions/stage-resources.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { METRICS_NAMESPACE } from '../../shared/metrics.ts'
import { templatesOf } from '../support/templates.ts'

/** Who is told of what, and what there is to see. */

const stage = stageNamed('production')
const { service } = templatesOf(stage)
const mailed = templatesOf({ ...stage, alarmsTo: 'ops@example.com' }).service

type Alarm = Record<string, unknown> & {
  AlarmName: string
  AlarmDescription: string
  AlarmActions: unknown[]
  Metrics?: { Expression?: string; MetricStat?: { Metric: { MetricName: string } } }[]
}
const alarms = Object.values(service.findResources('AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties as Alarm,
)
const alarm = (name: string): Alarm | undefined =>
  alarms.find(({ AlarmName }) => AlarmName === `debit-collection-production-${name}`)

const dead = [...queuesOf(stage).map(({ name }) => deadLetters(name)), 'relay-lost-records']

/** name, where its figure is from, when it rings, how often in a row, what silence means */
const rows = [
  ['server-errors', 'AWS/ApiGateway 5XXError', 'Sum of 300 s >= 5', 1, 'good'],
  ['charge-slow', 'AWS/ApiGateway Latency', 'p99 of 300 s >= 200', 3, 'good'],
  ['charge-throttled', 'AWS/Lambda Throttles', 'Sum of 300 s >= 1', 1, 'good'],
  ['stream-late', 'AWS/Lambda IteratorAge', 'Maximum of 300 s >= 60000', 1, 'good'],
  ['sweep-missing', 'own SweepRuns', 'Sum of 60 s < 1', 5, 'bad'],
  ['webhook-failing', 'own WebhookFailingDays', 'Maximum of 300 s >= 3', 1, 'good'],
  ['late-completion', 'own LateCompletion', 'Maximum of 300 s >= 1', 1, 'good'],
  ['contradiction', 'own Contradiction', 'Maximum of 300 s >= 1', 1, 'good'],
  ['refused-report', 'own RefusedReport', 'Maximum of 300 s >= 1', 1, 'good'],
  ['refund-failed', 'own RefundFailed', 'Maximum of 300 s >= 1', 1, 'good'],
  ['bank-requests-limited', 'own BankRequestsLimited', 'Sum of 300 s >= 1', 1, 'good'],
  ['bank-credentials-refused', 'own BankCredentialsRefused', 'Sum of 300 s >= 5', 1, 'good'],
  ['bank-requests-refused', 'own BankRequestsRefused', 'Sum of 300 s >= 20', 1, 'good'],
  ['settlement-unfinished', 'own SettlementUnfinished', 'Maximum of 300 s >= 1', 1, 'good'],
  ['settlement-not-paid', 'own SettlementNotPaid', 'Maximum of 300 s >= 1', 1, 'good'],
  ['settlement-failed', 'own SettlementFailed', 'Maximum of 300 s >= 1', 1, 'good'],
  [
    'reconciliation-differences',
    'own ReconciliationDifferences',
    'Maximum of 300 s >= 1',
    1,
    'good',
  ],
  [
    'reconciliation-missing',
    'own ReconciliationDifferences',
    'SampleCount of 3600 s < 1',
    25,
    'bad',
  ],
  ...dead.flatMap((name) => [
    [name, 'AWS/SQS ApproximateNumberOfMessagesVisible', 'Maximum of 60 s >= 1', 1, 'good'],
    [
      `${name}-old`,
      'AWS/SQS ApproximateAgeOfOldestMessage',
      'Maximum of 300 s >= 604800',
      1,
      'good',
    ],
  ]),
] as [string, string, string, number, string][]

const SIGNS: Record<string, string> = {
  GreaterThanOrEqualToThreshold: '>=',
  LessThanThreshold: '<',
}

describe('somebody is told', () => {
  test.each(rows)('of %s: %s, %s, %i times; silence is %s', (name, ...wanted) => {
    const found = alarm(name)
    const namespace = found?.Namespace === METRICS_NAMESPACE ? 'own' : found?.Namespace
    expect([
      `${namespace} ${found?.MetricName}`,
      `${found?.Statistic ?? found?.ExtendedStatistic} of ${found?.Period} s ${
        SIGNS[String(found?.ComparisonOperator)]
      } ${found?.Threshold}`,
      found?.EvaluationPeriods,
      found?.TreatMissingData === 'breaching' ? 'bad' : 'good',
    ]).toEqual(wanted)
  })

  test('of chains of invocations that AWS broke off, wherever none may be long', () => {
    const found = alarm('invocations-dropped')
    const counted = found?.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) ?? []
    expect(found?.Metrics?.find(({ Expression }) => Expression)?.Expression).toBe(
      'SUM(FILL(METRICS(), 0))',
    )
    expect(new Set(counted.map(({ MetricName }) => MetricName))).toEqual(
      new Set(['RecursiveInvocationsDropped']),
    )
    const allowed = Object.values(
      service.findResources('AWS::Lambda::Function', { Properties: { RecursiveLoop: 'Allow' } }),
    )
    expect(counted).toHaveLength(jobsOf(stage).length - allowed.length)
    // An alarm over an expression takes no more.
    expect(counted.length).toBeLessThanOrEqual(10)
  })

  test('of nothing else', () => {
    expect(alarms).toHaveLength(rows.length + 1)
  })

  test('of charges, from their arrival to their reply, unless there are but a few', () => {
    expect(alarm('charge-slow')).toMatchObject({
      EvaluateLowSampleCountPercentile: 'ignore',
      Dimensions: expect.arrayContaining([
        { Name: 'Resource', Value: '/api/v1/payment-providers/debit-requests/charge' },
        { Name: 'Method', Value: 'POST' },
      ]),
    })
  })

  test('of figures of this stage alone', () => {
    for (const { Namespace, Dimensions } of alarms) {
      if (Namespace !== METRICS_NAMESPACE) continue
      expect(Dimensions).toEqual([{ Name: 'service', Value: 'debit-collection-production' }])
    }
  })

  test('what has happened, and what to do about it, in one line', () => {
    for (const { AlarmName, AlarmDescription } of alarms) {
      expect(AlarmDescription, AlarmName).toMatch(/^[A-Z][^:\n]+: [^\n]+$/)
    }
  })

  test('by one topic, when it rings and when it is over, by mail if the stage says where to', () => {
    const [topic] = Object.keys(service.findResources('AWS::SNS::Topic'))
    for (const one of alarms) {
      expect(one).toMatchObject({ AlarmActions: [{ Ref: topic }], OKActions: [{ Ref: topic }] })
    }
    service.resourceCountIs('AWS::SNS::Subscription', 0)
    mailed.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'ops@example.com',
    })
  })

  test('over TLS: and the alarms of this account may still publish', () => {
    service.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
          Match.objectLike({
            Effect: 'Allow',
            Action: 'sns:Publish',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          }),
        ]),
      },
    })
  })
})

test('one page shows debits, latency, queues, webhooks and settlement', () => {
  service.resourceCountIs('AWS::CloudWatch::Dashboard', 1)
  const page = JSON.stringify(service.findResources('AWS::CloudWatch::Dashboard'))
  const shown = [
    ['DebitsCharged', 'DebitsCompleted', 'DebitsFailed', 'completed / (completed + failed)'],
    ['Latency', 'p50', 'p99', '5XXError', 'IteratorAge'],
    ['WebhookDelivered', 'WebhookAbandoned', 'delivered / (delivered + failed)'],
    ['SettledGrossPesewas', 'SettledFeePesewas', 'SettledNetPesewas', 'SettlementPaid'],
  ].flat()
  expect(shown.filter((name) => !page.includes(name))).toEqual([])
  expect(page.match(/ApproximateAgeOfOldestMessage/g)).toHaveLength(queuesOf(stage).length)
})

test('the gateway keeps a line of each request, without anybody in it', () => {
  const [api] = Object.values(service.findResources('AWS::ApiGateway::Stage'))
  const line = JSON.parse(api?.Properties.AccessLogSetting.Format)
  expect(line).toMatchObject({ request_id: '$context.requestId', status: '$context.status' })
  // A path may hold a phone number; the resource it belongs to does not.
  expect(line.resource).toBe('$context.resourcePath')
  expect(Object.values(line)).not.toContain('$context.path')
})
