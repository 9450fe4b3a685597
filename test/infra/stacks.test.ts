import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { alarmRows } from '../../infra/alarms.ts'
import { DataStack } from '../../infra/data-stack.ts'
import { functionRows, type ReportsUse } from '../../infra/functions.ts'
import { gatewayResponses } from '../../infra/gateway-responses.ts'
import { jobNames, jobRow, recurring } from '../../infra/jobs.ts'
import { queueRows } from '../../infra/queues.ts'
import { ServiceStack } from '../../infra/service-stack.ts'
import { stageNamed } from '../../infra/stages.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { METRICS_NAMESPACE, METRICS_SERVICE } from '../../shared/metrics.ts'
import { messages } from '../../shared/queues/messages.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'

/** What the templates must say, whatever else they say. */

const synthesize = (name: string) => {
  const stage = stageNamed(name)
  // The bundles are made by `npm run synth`; the templates do not need them.
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } })
  const data = new DataStack(app, 'data', { stage })
  const service = new ServiceStack(app, 'service', { stage, data })
  return { data: Template.fromStack(data), service: Template.fromStack(service) }
}

const { data, service } = synthesize('production')

type Resource = { Properties: Record<string, unknown> } & Record<string, unknown>
const named = (names: readonly string[]): string[] =>
  names.map((name) => `debit-collection-production-${name}`)

const resources = (type: string): Resource[] =>
  Object.values(service.findResources(type)) as Resource[]

describe('the data stack', () => {
  test('keeps the table: on demand, recoverable, protected, retained, with both images', () => {
    data.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        Replicas: [
          Match.objectLike({
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          }),
        ],
      },
    })
  })

  test('keeps its lists as indexes of keys alone, the one of overdue work by when it is due', () => {
    const index = (IndexName: string, hash: string, range: string) => ({
      IndexName,
      KeySchema: [
        { AttributeName: hash, KeyType: 'HASH' },
        { AttributeName: range, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })
    data.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      GlobalSecondaryIndexes: [
        index('by-status', 'byStatus', 'byTime'),
        index('by-customer', 'byCustomer', 'byTime'),
        index('work', 'work', 'due'),
      ],
    })
  })
})

describe('the bucket of reports', () => {
  /** What a function may do with it, and whether it is told its name. */
  const opened = (template: Template, name: string) => {
    const [lambda] = Object.values(
      template.findResources('AWS::Lambda::Function', {
        Properties: { FunctionName: `debit-collection-production-${name}` },
      }),
    )
    const role = JSON.stringify(lambda?.Properties.Role['Fn::GetAtt'][0])
    const actions = Object.values(template.findResources('AWS::IAM::Policy'))
      .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(role))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .flatMap(({ Action }: { Action: string | string[] }) => Action)
      .filter((action: string) => action.startsWith('s3:'))
    return { actions, isTold: 'REPORTS_BUCKET' in (lambda?.Properties.Environment.Variables ?? {}) }
  }

  const withUses = (uses: Record<string, ReportsUse>) => {
    const rows = functionRows.filter(({ name }) => name in uses)
    const before = rows.map(({ usesReports }) => usesReports)
    for (const row of rows) Object.assign(row, { usesReports: [uses[row.name]] })
    const { service } = synthesize('production')
    for (const [n, row] of rows.entries()) Object.assign(row, { usesReports: before[n] })
    return service
  }

  test('is closed to the public, encrypted, versioned, retained, and asked over TLS alone', () => {
    data.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [
            { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
          ],
        },
        VersioningConfiguration: { Status: 'Enabled' },
        LifecycleConfiguration: {
          Rules: [
            { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: 'Enabled' },
          ],
        },
      },
    })
    data.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Principal: { AWS: '*' },
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        ]),
      },
    })
  })

  test('is opened by one word in the row of a function: to read, or to write', () => {
    const template = withUses({ 'get-bank': 'read', sweep: 'write' })
    expect(opened(template, 'get-bank')).toEqual({
      isTold: true,
      actions: ['s3:GetObject*', 's3:GetBucket*', 's3:List*'],
    })
    const { isTold, actions } = opened(template, 'sweep')
    expect(isTold).toBe(true)
    expect(actions).toContain('s3:PutObject')
    expect(actions).not.toContainEqual(expect.stringMatching(/^s3:(?:Get|List|Delete)/))
    expect(opened(template, 'list-banks')).toEqual({ isTold: false, actions: [] })
  })

  test('is written where batches are built, and read where reports are asked for', () => {
    const uses = functionRows.flatMap(({ name }) => {
      const { actions } = opened(service, name)
      const may = (action: string) => actions.some((one) => one.startsWith(`s3:${action}Object`))
      const use = ['Get', 'Put'].filter(may)
      return use.length > 0 ? [[name, ...use]] : []
    })
    expect(uses.sort()).toEqual([
      ['build-batch', 'Put'],
      ['get-settlement-report', 'Get'],
      ['manage-settlement', 'Get', 'Put'],
    ])
  })
})

describe('the key that seals the secrets of partners and banks', () => {
  test('is retained, and only those who need it may read it', () => {
    data.hasResource('AWS::SecretsManager::Secret', { DeletionPolicy: 'Retain' })
    const holders = resources('AWS::Lambda::Function')
      .filter(({ Properties }) =>
        JSON.stringify(Properties.Environment).includes('SEALING_KEY_ARN'),
      )
      .map(({ Properties }) => Properties.FunctionName)
    expect(holders.sort()).toEqual(
      named([
        'deliver-sidelined-webhook',
        'deliver-webhook',
        'manage-bank',
        'manage-connector',
        'manage-settlement',
        'manage-webhook',
        'process-batch',
        'submit-to-bank',
        'test-webhook',
      ]),
    )
  })
})

describe('functions', () => {
  test('each on Node 24 and arm64, under its own name, with its own timeout', () => {
    for (const { name, timeoutSeconds } of functionRows) {
      service.hasResourceProperties('AWS::Lambda::Function', {
        FunctionName: `debit-collection-production-${name}`,
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: timeoutSeconds,
        Environment: { Variables: Match.objectLike({ STAGE: 'production' }) },
      })
    }
    service.resourceCountIs('AWS::Lambda::Function', functionRows.length)
  })

  test('long chains of invocations are allowed where they are meant, and nowhere else', () => {
    const allowed = resources('AWS::Lambda::Function')
      .filter(({ Properties }) => Properties.RecursiveLoop === 'Allow')
      .map(({ Properties }) => Properties.FunctionName)
    expect(allowed.sort()).toEqual(
      named([
        'deliver-sidelined-webhook',
        'deliver-webhook',
        'recover-deliveries',
        'relay',
        'submit-to-bank',
      ]),
    )
  })

  test('no function sends to a queue that feeds it', () => {
    for (const name of jobNames) {
      const { from, sends } = jobRow(name)
      const fed: readonly string[] = 'queues' in from ? from.queues : []
      expect(
        sends.filter((queue) => fed.includes(queue)),
        name,
      ).toEqual([])
    }
  })
})

describe('queues', () => {
  test('are those that have a shape of messages, each with one consumer', () => {
    const fed = jobNames.flatMap((name) => {
      const { from } = jobRow(name)
      return 'queues' in from ? [...from.queues] : []
    })
    expect(fed.sort()).toEqual(Object.keys(messages).sort())
    expect(queueRows.map(({ name }) => name).sort()).toEqual(fed)
  })

  test('every queue that something is sent to is known to the sender', () => {
    const variables = new Map(
      resources('AWS::Lambda::Function').map(({ Properties }) => [
        Properties.FunctionName,
        Object.keys((Properties.Environment as { Variables: object }).Variables),
      ]),
    )
    for (const name of jobNames) {
      const [lambda = ''] = named([name])
      const known = variables.get(lambda)?.filter((variable) => variable.startsWith('QUEUE_URL_'))
      expect(known?.sort(), name).toEqual(jobRow(name).sends.map(queueUrlVariable).sort())
    }
  })

  test('each has a dead-letter queue that outlives it, and an alarm on it', () => {
    for (const row of queueRows) {
      service.hasResourceProperties('AWS::SQS::Queue', {
        VisibilityTimeout: row.visibilitySeconds,
        MessageRetentionPeriod: row.retentionSeconds,
        RedrivePolicy: Match.objectLike({ maxReceiveCount: row.maxReceiveCount }),
      })
      expect(row.deadLetterRetentionSeconds).toBeGreaterThan(row.retentionSeconds)
    }
    // And one for the records that the stream's reader put aside.
    service.resourceCountIs('AWS::SQS::Queue', 2 * queueRows.length + 1)
    service.resourcePropertiesCountIs(
      'AWS::CloudWatch::Alarm',
      { MetricName: 'ApproximateNumberOfMessagesVisible', Threshold: 0 },
      queueRows.length + 1,
    )
  })

  test('no message is seen by a second worker before the first must have ended', () => {
    const timeouts = new Map(
      jobNames.flatMap((name) => {
        const { from, timeoutSeconds } = jobRow(name)
        return 'queues' in from ? from.queues.map((queue) => [queue, timeoutSeconds] as const) : []
      }),
    )
    for (const { name, visibilitySeconds } of queueRows) {
      expect(visibilitySeconds, name).toBeGreaterThanOrEqual(6 * (timeouts.get(name) ?? Infinity))
    }
  })

  test('every mapping reports single failures; queues bound their workers', () => {
    const mappings = resources('AWS::Lambda::EventSourceMapping').map((one) => one.Properties)
    expect(mappings).toHaveLength(queueRows.length + 1)
    for (const mapping of mappings) {
      expect(mapping.FunctionResponseTypes).toEqual(['ReportBatchItemFailures'])
    }
    const fromQueues = mappings.filter((mapping) => mapping.ScalingConfig !== undefined)
    expect(fromQueues).toHaveLength(queueRows.length)
  })

  test('the stream has one reader, from its beginning, that puts aside what fails', () => {
    const entities = ['debit', 'delivery', 'recovery', 'batch', 'late-completion']
    service.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 10,
      MaximumRecordAgeInSeconds: 23 * 3600,
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
      FilterCriteria: {
        Filters: [
          { Pattern: JSON.stringify({ dynamodb: { NewImage: { entity: { S: entities } } } }) },
        ],
      },
    })
  })
})

describe('what a schedule of its own sets off', () => {
  const logicalId = (type: string, name: string): string =>
    Object.keys(service.findResources(type)).find((id) => id.slice(0, -8) === name) ?? ''

  test.each(recurring)('$name: $expression into $queue, which it may fill', (row) => {
    const name = row.queue.replaceAll('-', '')
    const queue = { 'Fn::GetAtt': [logicalId('AWS::SQS::Queue', name), 'Arn'] }
    const role = logicalId('AWS::IAM::Role', 'ScheduleRole')
    service.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: row.expression,
      ScheduleExpressionTimezone: 'UTC',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { Arn: queue, RoleArn: { 'Fn::GetAtt': [role, 'Arn'] }, Input: '{}' },
    })
    service.hasResourceProperties('AWS::IAM::Policy', {
      Roles: [{ Ref: role }],
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: Match.arrayWith(['sqs:SendMessage']), Resource: queue }),
        ]),
      },
    })
  })

  test('nothing else', () => {
    service.resourceCountIs('AWS::Scheduler::Schedule', recurring.length)
  })

  test('settlement at midnight and twice after it: a run that waited for days is still made', () => {
    const ofSettlement = recurring.filter(({ queue }) => queue === 'settlement-runs')
    expect(ofSettlement.map(({ expression }) => expression)).toEqual([
      'cron(0 0 * * ? *)',
      'cron(20 0 * * ? *)',
      'cron(0 1 * * ? *)',
    ])
    for (const queue of ['settlement-runs', 'settlements', 'payments']) {
      const row = queueRows.find(({ name }) => name === queue)
      expect(row?.retentionSeconds, queue).toBe(4 * 86_400)
    }
  })

  test('the sweep each minute: it ends within its own, and none begins two minutes late', () => {
    const ofSweep = recurring.filter(({ queue }) => queue === 'sweeps')
    expect(ofSweep.map(({ expression }) => expression)).toEqual(['rate(1 minute)'])
    expect(jobRow('sweep').timeoutSeconds).toBeLessThan(60)
    expect(queueRows.find(({ name }) => name === 'sweeps')?.retentionSeconds).toBe(120)
  })
})

describe('somebody is told', () => {
  test.each([
    ['WebhookFailingDays', 3, 'two days before it is disabled'],
    ['LateCompletion', 1, "of a customer's money"],
    ['SettlementNotPaid', 1, 'of a batch that waits'],
    ['SettlementFailed', 1, 'of a batch that its bank will not pay'],
    ['ReconciliationDifferences', 1, 'of what does not fit together'],
  ])('of %s from %i on: %s', (MetricName, Threshold) => {
    service.resourcePropertiesCountIs(
      'AWS::CloudWatch::Alarm',
      {
        Namespace: METRICS_NAMESPACE,
        MetricName,
        Dimensions: [{ Name: 'service', Value: METRICS_SERVICE }],
        Statistic: 'Maximum',
        Threshold,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        TreatMissingData: 'notBreaching',
      },
      1,
    )
  })

  test('of dead letters, of lost records, and of nothing else', () => {
    service.resourceCountIs('AWS::CloudWatch::Alarm', queueRows.length + 1 + alarmRows.length)
  })
})

describe('the API', () => {
  test('has a method for each operation, and any other method of a path is answered too', () => {
    const methods = resources('AWS::ApiGateway::Method').map(
      ({ Properties }) => Properties.HttpMethod,
    )
    const paths = new Set(operationNames.map((name) => operations[name].path))
    expect(methods.filter((method) => method !== 'ANY')).toHaveLength(operationNames.length)
    // Every path, the root, and whatever is no path.
    expect(methods.filter((method) => method === 'ANY')).toHaveLength(paths.size + 2)
  })

  test('takes bodies as bytes', () => {
    service.hasResourceProperties('AWS::ApiGateway::RestApi', { BinaryMediaTypes: ['*/*'] })
  })

  test('speaks for itself in the envelope', () => {
    for (const [type, { status, code }] of Object.entries(gatewayResponses)) {
      service.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
        ResponseType: type,
        StatusCode: String(status),
        ResponseParameters: {
          'gatewayresponse.header.X-Request-ID': 'context.requestId',
        },
        ResponseTemplates: {
          'application/json': Match.stringLikeRegexp(`"success":false,"error":{"code":${code}`),
        },
      })
    }
  })
})

test('a stage that does not exist is told in one line', () => {
  for (const name of [undefined, 'prod', 'constructor', 7]) {
    expect(() => stageNamed(name)).toThrow('Name a stage: -c stage=sandbox|production')
  }
})
