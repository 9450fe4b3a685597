import { Match, type Template } from 'aws-cdk-lib/assertions'
import { ResponseType } from 'aws-cdk-lib/aws-apigateway'
import { describe, expect, test } from 'vitest'
import { permissionsOf } from '../../infra/definitions/function-permissions.ts'
import { gatewayResponses } from '../../infra/definitions/gateway-responses.ts'
import { jobNames, jobRow, recurring } from '../../infra/definitions/jobs.ts'
import { queueRows } from '../../infra/definitions/queues.ts'
import { functionsOf, queuesOf } from '../../infra/definitions/stage-resources.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { messages } from '../../shared/queues/messages.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { templatesOf } from '../support/templates.ts'

/** What the templates must say, whatever else they say. */

const production = stageNamed('production')
const { data, service } = templatesOf(production)
const rows = functionsOf(production)
const queues = queuesOf(production)

type Resource = { Properties: Record<string, unknown> } & Record<string, unknown>
const named = (names: readonly string[]): string[] =>
  names.map((name) => `debit-collection-production-${name}`)

const resources = (type: string): Resource[] =>
  Object.values(service.findResources(type)) as Resource[]

/** The one key, as what it encrypts names it. */
const theKey = {
  'Fn::GetAtt': [Object.keys(data.findResources('AWS::KMS::Key'))[0], 'Arn'],
}

describe('the data stack', () => {
  test('has one key, which changes each year and outlives the stack', () => {
    data.resourceCountIs('AWS::KMS::Key', 1)
    data.hasResource('AWS::KMS::Key', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: { EnableKeyRotation: true },
    })
  })

  test('keeps the table: on demand, recoverable, protected, retained, with both images', () => {
    data.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        Replicas: [
          Match.objectLike({
            DeletionProtectionEnabled: true,
            SSESpecification: { KMSMasterKeyId: theKey },
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          }),
        ],
      },
    })
  })

  test('keeps its lists as indexes of keys and of the few attributes that select their items', () => {
    const index = (IndexName: string, hash: string, range: string, projected?: string[]) => ({
      IndexName,
      KeySchema: [
        { AttributeName: hash, KeyType: 'HASH' },
        { AttributeName: range, KeyType: 'RANGE' },
      ],
      Projection: projected
        ? { ProjectionType: 'INCLUDE', NonKeyAttributes: projected }
        : { ProjectionType: 'KEYS_ONLY' },
    })
    data.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      GlobalSecondaryIndexes: [
        index('by-status', 'byStatus', 'byTime', ['sealedAt', 'completedAt', 'completedFrom']),
        index('by-customer', 'byCustomer', 'byTime', ['status', 'amount']),
        index('work', 'work', 'due'),
      ],
    })
  })
})

test('payouts wait for funding where the stage says so, in the functions that change the cash', () => {
  const waiting = ({ payoutsWaitForFunding }: { payoutsWaitForFunding: boolean }) =>
    Object.values(
      templatesOf({ ...production, payoutsWaitForFunding }).service.findResources(
        'AWS::Lambda::Function',
      ),
    )
      .filter(
        ({ Properties }) => Properties.Environment?.Variables?.PAYOUTS_WAIT_FOR_FUNDING === 'true',
      )
      .map(({ Properties }) => Properties.FunctionName)
      .sort()
  expect(waiting({ payoutsWaitForFunding: true })).toEqual(
    ['manage-funding', 'manage-settlement', 'process-batch'].map(
      (name) => `debit-collection-production-${name}`,
    ),
  )
  expect(waiting({ payoutsWaitForFunding: false })).toEqual([])
})

describe('a stage whose table was restored from a backup', () => {
  const restoredTable = { name: 'restored', streamLabel: '2026-11-21T10:05:00.000' }
  const restored = templatesOf({ ...production, restoredTable })

  test('keeps its own table as it was', () => {
    expect(restored.data.findResources('AWS::DynamoDB::GlobalTable')).toEqual(
      data.findResources('AWS::DynamoDB::GlobalTable'),
    )
    const names = (template: Template) => Object.keys(template.findOutputs('*'))
    expect(names(restored.data)).toEqual(expect.arrayContaining(names(data)))
  })

  test('works on the other one alone: its items, its indexes and its stream', () => {
    const functions = Object.values(restored.service.findResources('AWS::Lambda::Function'))
    const tables = functions.flatMap(
      ({ Properties }) => Properties.Environment?.Variables?.TABLE_NAME ?? [],
    )
    expect(new Set(tables.map((name) => JSON.stringify(name)))).toHaveLength(1)
    const whole = JSON.stringify(restored.service.toJSON())
    expect(whole).not.toContain('GetAttTable')
    expect(whole).toContain('/stream/2026-11-21T10:05:00.000')
  })
})

describe('the bucket of reports', () => {
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
            {
              BucketKeyEnabled: true,
              ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: theKey },
            },
          ],
        },
        LoggingConfiguration: Match.anyValue(),
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
})

describe('the key that seals the secrets of providers and banks', () => {
  test('is retained, and only those who need it may read it', () => {
    data.hasResource('AWS::SecretsManager::Secret', {
      DeletionPolicy: 'Retain',
      Properties: { KmsKeyId: theKey },
    })
    const holders = resources('AWS::Lambda::Function')
      .filter(({ Properties }) =>
        JSON.stringify(Properties.Environment).includes('SEALING_KEY_ARN'),
      )
      .map(({ Properties }) => Properties.FunctionName)
    expect(holders.sort()).toEqual(
      named([
        // Providers may sign their requests.
        ...operationNames.filter((name) => operations[name].caller === 'provider'),
        'deliver-sidelined-webhook',
        'deliver-webhook',
        'expire-debit',
        'manage-bank',
        'manage-connector',
        'manage-provider',
        'manage-settlement',
        'manage-webhook',
        'process-batch',
        'refund-customer',
        'submit-to-bank',
        'sweep',
      ]).sort(),
    )
  })
})

describe('functions', () => {
  test('each on Node 24 and arm64, under its own name, with its own timeout', () => {
    for (const { name, timeoutSeconds } of rows) {
      service.hasResourceProperties('AWS::Lambda::Function', {
        FunctionName: `debit-collection-production-${name}`,
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: timeoutSeconds,
        Environment: { Variables: Match.objectLike({ STAGE: 'production' }) },
      })
    }
    service.resourceCountIs('AWS::Lambda::Function', rows.length)
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
      const { from } = jobRow(name)
      const { sends = [] } = permissionsOf(name)
      const fed: readonly string[] = 'queues' in from ? from.queues : []
      expect(
        sends.filter((queue) => fed.includes(queue)),
        name,
      ).toEqual([])
    }
  })
})

describe('the trail of invocations', () => {
  test('records each call of an operator’s function, and no other, where the stage says so', () => {
    const [trail] = resources('AWS::CloudTrail::Trail') as [Resource]
    const [selector] = trail.Properties.EventSelectors as [Record<string, unknown>]
    const [{ Values }] = selector.DataResources as [{ Values: { 'Fn::GetAtt': [string] }[] }]
    const recorded = Values.map(
      ({ 'Fn::GetAtt': [id] }) => service.toJSON().Resources[id].Properties.FunctionName,
    )
    const operators = rows.map(({ name }) => name).filter((name) => name.startsWith('manage-'))
    expect(recorded.sort()).toEqual(named(operators).sort())
    expect(selector).toMatchObject({ IncludeManagementEvents: false, ReadWriteType: 'All' })
    templatesOf(stageNamed('sandbox')).service.resourceCountIs('AWS::CloudTrail::Trail', 0)
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
    for (const { name, permissions } of rows) {
      const [lambda = ''] = named([name])
      const { sends = [] } = permissions
      const known = variables.get(lambda)?.filter((variable) => variable.startsWith('QUEUE_URL_'))
      expect(known?.sort(), name).toEqual(sends.map(queueUrlVariable).sort())
    }
  })

  test('each has a dead-letter queue that outlives it; all are encrypted, and asked over TLS alone', () => {
    for (const row of queues) {
      service.hasResourceProperties('AWS::SQS::Queue', {
        VisibilityTimeout: row.visibilitySeconds,
        MessageRetentionPeriod: row.retentionSeconds,
        RedrivePolicy: Match.objectLike({ maxReceiveCount: row.maxReceiveCount }),
      })
      expect(row.deadLetterRetentionSeconds).toBeGreaterThan(row.retentionSeconds)
    }
    // And one for the records that the stream's reader put aside.
    const all = 2 * queues.length + 1
    service.resourceCountIs('AWS::SQS::Queue', all)
    service.resourcePropertiesCountIs('AWS::SQS::Queue', { SqsManagedSseEnabled: true }, all)
    const overTls = {
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    }
    service.resourcePropertiesCountIs(
      'AWS::SQS::QueuePolicy',
      { PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(overTls)]) } },
      all,
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
    expect(mappings).toHaveLength(queues.length + 1)
    for (const mapping of mappings) {
      expect(mapping.FunctionResponseTypes).toEqual(['ReportBatchItemFailures'])
    }
    const fromQueues = mappings.filter((mapping) => mapping.ScalingConfig !== undefined)
    expect(fromQueues).toHaveLength(queues.length)
  })

  test('the stream has one reader, from its beginning, that puts aside what fails', () => {
    const entities = ['debit', 'delivery', 'recovery', 'batch', 'build', 'exception', 'refund']
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
          Match.objectLike({ Action: 'sqs:SendMessage', Resource: queue }),
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

describe('the API', () => {
  test('has a method for each operation, and any other method of a path is answered too', () => {
    const methods = resources('AWS::ApiGateway::Method').map(
      ({ Properties }) => Properties.HttpMethod,
    )
    const paths = new Set(operationNames.map((name) => operations[name].path))
    const reads = operationNames.filter((name) => operations[name].method === 'GET')
    expect(methods.filter((method) => method === 'HEAD')).toHaveLength(reads.length)
    expect(methods.filter((method) => method === 'GET' || method === 'POST')).toHaveLength(
      operationNames.length,
    )
    // Every path, the root, and whatever is no path.
    expect(methods.filter((method) => method === 'ANY')).toHaveLength(paths.size + 2)
  })

  test('takes bodies as bytes', () => {
    service.hasResourceProperties('AWS::ApiGateway::RestApi', { BinaryMediaTypes: ['*/*'] })
  })

  test('speaks for itself in the envelope, whatever type of response it gives', () => {
    const types = Object.values(ResponseType as unknown as Record<string, ResponseType>)
      .filter((type) => type instanceof ResponseType)
      .map(({ responseType }) => responseType)
    expect(Object.keys(gatewayResponses).sort()).toEqual(types.sort())
    for (const [type, { status, code }] of Object.entries(gatewayResponses)) {
      service.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
        ResponseType: type,
        StatusCode: String(status),
        ResponseParameters: {
          'gatewayresponse.header.X-Request-ID': 'context.requestId',
          'gatewayresponse.header.Cache-Control': "'no-store'",
          'gatewayresponse.header.Strict-Transport-Security':
            "'max-age=31536000; includeSubDomains'",
          'gatewayresponse.header.X-Content-Type-Options': "'nosniff'",
          ...(status === 401 ? { 'gatewayresponse.header.WWW-Authenticate': "'Bearer'" } : {}),
          ...(status === 429 ? { 'gatewayresponse.header.Retry-After': "'1'" } : {}),
          ...(status === 503 ? { 'gatewayresponse.header.Retry-After': "'5'" } : {}),
        },
        ResponseTemplates: {
          'application/json': Match.stringLikeRegexp(`"success":false,"error":{"code":${code}`),
        },
      })
    }
  })
})
