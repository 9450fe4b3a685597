import { Match, type Template } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { alarmRows } from '../../infra/definitions/alarms.ts'
import { replicatedStage } from '../../infra/definitions/complete-stage.ts'
import { jobsOf, queuesOf } from '../../infra/definitions/jobs.ts'
import { burnRows } from '../../infra/definitions/objectives.ts'
import { lateAlarm } from '../../infra/definitions/outcome-alarms.ts'
import { rollbackAlarms } from '../../infra/definitions/rollback-alarms.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { METRICS_NAMESPACE } from '../../shared/metrics.ts'
import { deadLetters } from '../../shared/queues/messages.ts'
import { rowsOf } from '../support/rows.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

const stage = stageNamed('production')
const { all, data } = templatesOf(stage)

type Alarm = Record<string, unknown> & {
  AlarmName: string
  AlarmDescription: string
  Metrics?: {
    Expression?: string
    Period?: number
    MetricStat?: {
      Stat: string
      Period?: number
      Metric: { MetricName: string; Dimensions?: unknown }
    }
  }[]
}
const PREFIX = 'debit-collection-production-'
const alarms = propertiesOf(all, 'AWS::CloudWatch::Alarm') as Alarm[]
/** Of a stage with every optional setting. */
const allAlarms = propertiesOf(templatesOf(replicatedStage).all, 'AWS::CloudWatch::Alarm')
const nameOf = ({ AlarmName }: TemplateNode): string =>
  AlarmName.replace(/^debit-collection-[a-z]+-/, '')
const alarm = (name: string): Alarm | undefined =>
  [...alarms, ...(allAlarms as Alarm[])].find((one) => nameOf(one) === name)

const deadLetterQueues = [
  ...queuesOf(stage).map(({ name }) => deadLetters(name)),
  'relay-lost-records',
]

/** Seconds that messages may wait where a worker takes longer; 900 elsewhere. */
const lateAfter: Record<string, number> = {
  'webhooks-high': 1_080,
  'webhooks-medium': 1_080,
  'webhooks-low': 1_080,
  'webhooks-sidelined': 1_080,
  settlements: 7_200,
  reconciliations: 7_200,
  'reconciliation-parts': 7_200,
}

const VISIBLE = 'AWS/SQS ApproximateNumberOfMessagesVisible'

/** Name, metric, threshold, consecutive periods, treatment of missing data. */
const rows = [
  ...rowsOf(`
    charge-throttled            AWS/Lambda Throttles               Sum of 300 s >= 1          1   ok
    stream-late                 AWS/Lambda IteratorAge             Maximum of 300 s >= 60000  1   ok
    sweep-missing               service SweepRuns                  Sum of 60 s < 1            5   bad
    sweep-behind                service SweepLagSeconds            Maximum of 300 s >= 600    1   ok
    sweep-faults                service SweepFaults                Sum of 300 s >= 1          2   ok
    secrets-unreadable          service SecretsUnreadable          Sum of 300 s >= 1          1   ok
    change-records-altered      service ChangeRecordsAltered       Sum of 300 s >= 1          1   ok
    webhook-failing             service WebhookFailingDays         Maximum of 300 s >= 3      1   ok
    unusual-use                 service UnusualUse                 Maximum of 300 s >= 1      1   ok
    prompts-refused             service PromptsRefused             Sum of 300 s >= 10         1   ok
    unwanted-prompts            service UnwantedPrompts            Maximum of 300 s >= 1      1   ok
    late-completion             service LateCompletion             Maximum of 300 s >= 1      1   ok
    contradiction               service Contradiction              Maximum of 300 s >= 1      1   ok
    refused-report              service RefusedReport              Maximum of 300 s >= 1      1   ok
    refund-failed               service RefundFailed               Maximum of 300 s >= 1      1   ok
    bank-requests-limited       service BankRequestsLimited        Sum of 300 s >= 1          1   ok
    bank-credentials-refused    service BankCredentialsRefused     Sum of 300 s >= 5          1   ok
    bank-requests-refused       service BankRequestsRefused        Sum of 300 s >= 20         1   ok
    exceptions-open             service OpenExceptions             Maximum of 300 s >= 1      1   ok
    requests-overdue            service RequestsOverdue            Maximum of 300 s >= 1      1   ok
    payouts-overdue             service OverduePayouts             Maximum of 300 s >= 1      1   ok
    providers-owing             service ProvidersOwing             Maximum of 300 s >= 1000   1   ok
    banks-owing                 service BanksOwing                 Maximum of 300 s >= 1      1   ok
    settlement-unfinished       service SettlementUnfinished       Maximum of 300 s >= 1      1   ok
    settlement-not-paid         service SettlementNotPaid          Maximum of 300 s >= 1      1   ok
    calendar-missing            service CalendarMissing            Maximum of 300 s >= 1      1   ok
    settlement-failed           service SettlementFailed           Maximum of 300 s >= 1      1   ok
    reconciliation-unfinished   service ReconciliationUnfinished   Maximum of 300 s >= 1      1   ok
    reconciliation-differences  service ReconciliationDifferences  Maximum of 300 s >= 1      1   ok
    reconciliation-missing      service ReconciliationDifferences  SampleCount of 3600 s < 1  25  bad
    audit-missing               service DaysSealed                 SampleCount of 3600 s < 1  25  bad
    functions-throttled         AWS/Lambda Throttles               Sum of 300 s >= 1          3   ok
    concurrency-high            AWS/Lambda ConcurrentExecutions    Maximum of 300 s >= 800    1   ok
    schedules-throttled         AWS/Scheduler InvocationThrottleCount  Sum of 300 s >= 1      3   ok
    schedule-targets-failing    AWS/Scheduler TargetErrorCount     Sum of 300 s >= 5          1   ok
    schedules-dropped           AWS/Scheduler InvocationDroppedCount  Sum of 300 s >= 1       1   ok
    schedule-dead-letters-lost  AWS/Scheduler InvocationsFailedToBeSentToDeadLetterCount  Sum of 300 s >= 1  1  ok
    client-certificate-expires  service ClientCertificateDays      Minimum of 86400 s < 30    1   ok
    backup-missing              AWS/Backup NumberOfBackupJobsCompleted  Sum of 3600 s < 1     36  bad
    requests-blocked            AWS/WAFV2 BlockedRequests          Sum of 300 s >= 100        3   ok
    export-missing              AWS/States ExecutionsSucceeded     Sum of 3600 s < 1          36  bad
    replica-late                AWS/DynamoDB ReplicationLatency    Maximum of 300 s >= 60000  2   bad
    reports-not-replicated      AWS/S3 OperationsFailedReplication  Sum of 300 s >= 1         1   ok
    domain-certificate-expires  AWS/CertificateManager DaysToExpiry  Minimum of 86400 s < 30  1   ok
  `),
  ...queuesOf(stage)
    .filter(({ name }) => name !== 'sweeps')
    .map(({ name }) => [
      lateAlarm(name),
      'AWS/SQS ApproximateAgeOfOldestMessage',
      `Maximum of 300 s >= ${lateAfter[name] ?? 900}`,
      '1',
      'ok',
    ]),
  ...deadLetterQueues.flatMap((name) => [
    [name, VISIBLE, 'Maximum of 60 s >= 1', '1', 'ok'],
    [`${name}-old`, VISIBLE, 'Maximum of 3600 s >= 1', '168', 'ok'],
  ]),
] as [string, string, string, string, string][]

test.each(rows)(
  'the alarm %s fires on %s: %s in %s periods; missing data is %s',
  (name, ...expected) => {
    const row = alarm(name)
    const namespace = row?.Namespace === METRICS_NAMESPACE ? 'service' : row?.Namespace
    const operator = row?.ComparisonOperator === 'LessThanThreshold' ? '<' : '>='
    const statistic = row?.Statistic ?? row?.ExtendedStatistic
    expect([
      `${namespace} ${row?.MetricName}`,
      `${statistic} of ${row?.Period} s ${operator} ${row?.Threshold}`,
      String(row?.EvaluationPeriods),
      row?.TreatMissingData === 'breaching' ? 'bad' : 'ok',
    ]).toEqual(expected)
  },
)

test('the alarm invocations-dropped covers all jobs with loop detection, and endpoints-crashed all canaries', () => {
  const metrics = alarm('invocations-dropped')?.Metrics ?? []
  const counted = metrics.flatMap(({ MetricStat }) => MetricStat?.Metric.MetricName ?? [])
  const sums = metrics.flatMap(({ Expression }) => Expression ?? [])
  expect(sums).toEqual(['SUM(FILL(METRICS("droppedInvocations"), 0))'])
  const functions = propertiesOf(all, 'AWS::Lambda::Function')
  const allowed = functions.filter(({ RecursiveLoop }) => RecursiveLoop === 'Allow')
  const covered = jobsOf(stage).length - allowed.length
  expect(counted).toEqual(Array(covered).fill('RecursiveInvocationsDropped'))
  // The maximum for an alarm on a metric expression.
  expect(covered).toBeLessThanOrEqual(10)
})

test('the alarms on throttles cover the table and all its indexes', () => {
  const table = (data: Template) => Object.keys(data.findResources('AWS::DynamoDB::GlobalTable'))[0]
  const expected = [
    [
      {
        Name: 'TableName',
        Value: { 'Fn::ImportValue': expect.stringContaining(`Ref${table(data)}`) },
      },
    ],
    ...tableDefinition.indexes.map(({ name }) => [
      { Name: 'GlobalSecondaryIndexName', Value: name },
      expect.objectContaining({ Name: 'TableName' }),
    ]),
  ]
  for (const requests of ['reads', 'writes']) {
    const metrics = alarm(`table-${requests}-throttled`)?.Metrics ?? []
    const dimensions = metrics.flatMap(({ MetricStat }) =>
      MetricStat ? [MetricStat.Metric.Dimensions] : [],
    )
    expect(dimensions).toEqual(expected)
  }
})

test('each alarm has a row above, except those of several metrics or series', () => {
  const several = [
    'server-errors',
    'charge-slow',
    'invocations-dropped',
    'endpoints-crashed',
    'table-reads-throttled',
    'backup-failed',
  ]
  const excesses = ['completions-low', 'bank-failing', 'deliveries-failing', 'charges-refused']
  const others = [...several, ...excesses, 'table-writes-throttled', 'bank-down']
  const names = [...rows.map(([name]) => name), ...others]
  const spans = burnRows.flatMap((row) => row.spans.map(({ name }) => name))
  const named = [...alarms, ...allAlarms].map(nameOf).filter((name) => !spans.includes(name))
  expect([...new Set(named)].sort()).toEqual(names.sort())
})

test.each([
  ['bank-down', 60, 'MAX', 'BankDown'],
  ['bank-failing', 600, 'SUM', 'FailureExcess'],
])('the alarm %s has a series, and thus a mail, per bank of the stage', (...row) => {
  const [name, period, statistic, metric] = row
  const [query, ...others] = alarm(name)?.Metrics ?? []
  expect([query?.Period, others]).toEqual([period, []])
  expect(query?.Expression).toBe(
    `SELECT ${statistic}(${metric}) FROM SCHEMA("DebitCollection", bank, service) ` +
      `WHERE service = 'debit-collection-production' GROUP BY bank ORDER BY ${statistic}() DESC`,
  )
})

test('the alarms on the account, the schedules and the firewall have the dimensions of AWS', () => {
  const dimensions = ['concurrency-high', 'schedules-dropped', 'requests-blocked'].map(
    (name) => alarm(name)?.Dimensions,
  )
  const name = 'debit-collection-production'
  expect(dimensions).toEqual([
    undefined,
    [{ Name: 'ScheduleGroup', Value: name }],
    [
      { Name: 'Region', Value: { Ref: 'AWS::Region' } },
      { Name: 'Rule', Value: 'ALL' },
      { Name: 'WebACL', Value: name },
    ],
  ])
})

test('the threshold of concurrency follows the quota, a stage without firewall has no alarm for it, nor one without remittances for banks', () => {
  const rows = alarmRows({
    ...{ hasSandboxBank: true, hasFirewall: false, concurrencyQuota: 10 },
    payoutsWaitForFunding: false,
  })
  expect(rows.find(({ name }) => name === 'concurrency-high')?.threshold).toBe(8)
  const names = rows.map(({ name }) => name)
  expect(names).not.toContain('requests-blocked')
  expect(names).not.toContain('banks-owing')
})

test('the alarm charge-slow measures the latency of charge at the gateway, and needs five slow ones', () => {
  const metrics = alarm('charge-slow')?.Metrics ?? []
  const stats = metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat] : []))
  expect(stats.map(({ Stat }) => Stat)).toEqual(['SampleCount', 'PR(:200)'])
  for (const { Metric } of stats) {
    expect(Metric.Dimensions).toEqual(
      expect.arrayContaining([
        { Name: 'Resource', Value: '/api/v1/payment-providers/debit-requests/charge' },
        { Name: 'Method', Value: 'POST' },
      ]),
    )
  }
})

test('each objective has two burn rates, each over two spans', () => {
  const seconds: Record<string, number[]> = { fast: [3_600, 300], slow: [21_600, 1_800] }
  const budgets = { availability: 0.1, 'charge-time': 1, 'webhook-time': 1, 'payout-day': 0.5 }
  // Milliseconds at the gateway, and seconds of the service.
  const limits: Record<string, string> = { 'charge-time': 'PR(:200)', 'webhook-time': 'PR(:10)' }
  for (const [objective, budget] of Object.entries(budgets)) {
    for (const [speed, rate] of [
      ['fast', 14.4],
      ['slow', 6],
    ] as const) {
      const name = `${objective}-burn-${speed}`
      const spans = alarms.filter(({ AlarmName }) => AlarmName.startsWith(`${PREFIX + name}-`))
      const periods = spans.map(({ Metrics = [] }) => Metrics[1]?.MetricStat?.Period)
      expect(periods, name).toEqual(seconds[speed])
      for (const { Threshold, Metrics = [] } of spans) {
        expect(Threshold).toBeCloseTo(rate * budget)
        expect(Metrics[2]?.MetricStat?.Stat, name).toBe(limits[objective] ?? 'Sum')
      }
      const rule = composites.find(({ AlarmName }) => AlarmName === PREFIX + name)?.AlarmRule
      expect(JSON.stringify(rule).match(/ AND /g)).toHaveLength(1)
    }
  }
})

test('each description has an event and an action, and each name has its stage', () => {
  const stageName = [{ Name: 'service', Value: 'debit-collection-production' }]
  for (const row of alarms) {
    expect(row.AlarmDescription, row.AlarmName).toMatch(/^[A-Z][^:\n]+: [^\n]+$/)
    if (row.Namespace === METRICS_NAMESPACE) expect(row.Dimensions).toEqual(stageName)
  }
})

const topicNamed = (prefix: string) =>
  Object.keys(all.findResources('AWS::SNS::Topic')).find((id) => id.startsWith(prefix))
const composites = propertiesOf(all, 'AWS::CloudWatch::CompositeAlarm')

test('each alarm notifies by itself, a page or a ticket, except rollbacks and spans of a burn rate', () => {
  const topics = [topicNamed('Pages'), topicNamed('Tickets')]
  const silent = [...rollbackAlarms, ...burnRows.flatMap(({ spans }) => spans)]
  const rows = [...alarmRows(stage), ...burnRows]
  for (const { AlarmName, AlarmActions, OKActions } of [...alarms, ...composites]) {
    const name = AlarmName.slice(PREFIX.length)
    if (silent.some((row) => row.name === name)) expect(AlarmActions, name).toBeUndefined()
    else {
      const row = rows.find((one) => one.name === name)
      const actions = [{ Ref: topics[row?.to === 'page' ? 0 : 1] }]
      expect([AlarmActions, OKActions], name).toEqual([
        actions,
        row && 'isEvent' in row ? undefined : actions,
      ])
    }
  }
})

test('an alarm on events, and a reminder, mails no end', () => {
  const names = [...alarms, ...composites]
    .filter(({ AlarmActions, OKActions }) => AlarmActions && !OKActions)
    .map(({ AlarmName }) => AlarmName.slice(PREFIX.length))
  expect(names).toContain('late-completion')
  expect(names).toContain('webhook-failing')
  expect(names).toContain('exceptions-open')
  expect(names).not.toContain('sweep-missing')
})

test('the topics have a key of their own, accept alarms of this account, and notify the addresses of the stage', () => {
  all.resourceCountIs('AWS::SNS::Subscription', 0)
  const alarmsTo = { pages: 'https://pager.example.com/a', tickets: 'ops@example.com' }
  const withMail = templatesOf({ ...stage, alarmsTo }).all
  for (const [Protocol, Endpoint] of [
    ['https', alarmsTo.pages],
    ['email', alarmsTo.tickets],
  ])
    withMail.hasResourceProperties('AWS::SNS::Subscription', { Protocol, Endpoint })
  const fromCloudWatch = (Action: unknown) => ({
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Effect: 'Allow',
          Action,
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      ]),
    },
  })
  all.allResourcesProperties('AWS::SNS::TopicPolicy', fromCloudWatch('sns:Publish'))
  const keys = new Set(
    propertiesOf(all, 'AWS::SNS::Topic').map(
      ({ KmsMasterKeyId }) => KmsMasterKeyId['Fn::GetAtt'][0],
    ),
  )
  expect([...keys]).toEqual([expect.stringMatching(/^AlarmKey/)])
  const { PolicyDocument: KeyPolicy } = fromCloudWatch(['kms:Decrypt', 'kms:GenerateDataKey*'])
  all.hasResourceProperties('AWS::KMS::Key', { KeyPolicy })
  expect(JSON.stringify(data.findResources('AWS::KMS::Key'))).not.toContain('cloudwatch')
})

test('a call that disables the data key or schedules its deletion is a page', () => {
  const [rule] = propertiesOf(all, 'AWS::Events::Rule')
  expect(rule?.EventPattern).toMatchObject({
    source: ['aws.kms'],
    'detail-type': ['AWS API Call via CloudTrail'],
    detail: {
      eventName: ['DisableKey', 'ScheduleKeyDeletion'],
      resources: { ARN: [{ 'Fn::ImportValue': expect.stringContaining('Key') }] },
    },
  })
  expect(rule?.Targets).toMatchObject([{ Arn: { Ref: topicNamed('Pages') } }])
  const events = Match.objectLike({ Principal: { Service: 'events.amazonaws.com' } })
  const statements = { Statement: Match.arrayWith([events]) }
  all.hasResourceProperties('AWS::SNS::TopicPolicy', { PolicyDocument: statements })
  all.hasResourceProperties('AWS::KMS::Key', { KeyPolicy: statements })
  // Only a trail with management events sends such calls to a rule.
  const [trail] = propertiesOf(all, 'AWS::CloudTrail::Trail')
  expect(trail?.EventSelectors).toContainEqual({
    IncludeManagementEvents: true,
    ReadWriteType: 'WriteOnly',
  })
  const sandbox = templatesOf(stageNamed('sandbox')).all
  sandbox.resourceCountIs('AWS::Events::Rule', 0)
})

test('the access log contains no personal data', () => {
  const [api] = propertiesOf(all, 'AWS::ApiGateway::Stage')
  const line = JSON.parse(api?.AccessLogSetting.Format)
  expect(line).toMatchObject({
    request_id: '$context.extendedRequestId',
    status: '$context.status',
    host: '$context.domainName',
  })
  // The path may contain a phone number, the resource path does not.
  expect(line.resource).toBe('$context.resourcePath')
  expect(Object.values(line)).not.toContain('$context.path')
})
