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
import {
  denyWithoutTls,
  propertiesOf,
  type TemplateNode,
  templatesOf,
} from '../support/templates.ts'

const production = stageNamed('production')
const { data, service } = templatesOf(production)
const rows = functionsOf(production)
const queues = queuesOf(production)

const deployedNames = (names: readonly string[]): string[] =>
  names.map((name) => `debit-collection-production-${name}`)

const functions = propertiesOf(service, 'AWS::Lambda::Function')

const keyArn = { 'Fn::GetAtt': [Object.keys(data.findResources('AWS::KMS::Key'))[0], 'Arn'] }
const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' }

/** Returns the queues that a job consumes; none for the relay. */
const queuesConsumedBy = (name: (typeof jobNames)[number]) => {
  const { from } = jobRow(name)
  return 'queues' in from ? [...from.queues] : []
}

describe('the data stack', () => {
  test('has one encryption key with rotation, which outlives the stack', () => {
    data.resourceCountIs('AWS::KMS::Key', 1)
    data.hasResource('AWS::KMS::Key', {
      ...retained,
      Properties: { EnableKeyRotation: true },
    })
  })

  test('has an on-demand table with recovery, protection, retention and both images', () => {
    data.hasResource('AWS::DynamoDB::GlobalTable', {
      ...retained,
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        Replicas: [
          Match.objectLike({
            DeletionProtectionEnabled: true,
            SSESpecification: { KMSMasterKeyId: keyArn },
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          }),
        ],
      },
    })
  })

  test('has indexes that project only keys and filter attributes', () => {
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

test('PAYOUTS_WAIT_FOR_FUNDING reaches the functions that change funds, if the stage enables it', () => {
  const functionsWithFlag = (payoutsWaitForFunding: boolean) => {
    const templates = templatesOf({ ...production, payoutsWaitForFunding })
    return propertiesOf(templates.service, 'AWS::Lambda::Function')
      .filter(({ Environment }) => Environment?.Variables?.PAYOUTS_WAIT_FOR_FUNDING === 'true')
      .map(({ FunctionName }) => FunctionName)
      .sort()
  }
  const changing = ['manage-funding', 'manage-settlement', 'process-batch']
  expect(functionsWithFlag(true)).toEqual(deployedNames(changing))
  expect(functionsWithFlag(false)).toEqual([])
})

describe('a stage with a restored table', () => {
  const restoredTable = { name: 'restored', streamLabel: '2026-11-21T10:05:00.000' }
  const restored = templatesOf({ ...production, restoredTable })

  test('keeps its own table unchanged', () => {
    expect(restored.data.findResources('AWS::DynamoDB::GlobalTable')).toEqual(
      data.findResources('AWS::DynamoDB::GlobalTable'),
    )
    const names = (template: Template) => Object.keys(template.findOutputs('*'))
    expect(names(restored.data)).toEqual(expect.arrayContaining(names(data)))
  })

  test('uses items, indexes and stream of the restored table only', () => {
    const tables = propertiesOf(restored.service, 'AWS::Lambda::Function').flatMap(
      ({ Environment }) => Environment?.Variables?.TABLE_NAME ?? [],
    )
    expect(new Set(tables.map((name) => JSON.stringify(name)))).toHaveLength(1)
    const template = JSON.stringify(restored.service.toJSON())
    expect(template).not.toContain('GetAttTable')
    expect(template).toContain('/stream/2026-11-21T10:05:00.000')
  })
})

test('the bucket of reports is private, encrypted, versioned and retained, and requires TLS', () => {
  data.hasResource('AWS::S3::Bucket', {
    ...retained,
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
            ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: keyArn },
          },
        ],
      },
      LoggingConfiguration: Match.anyValue(),
      VersioningConfiguration: { Status: 'Enabled' },
      LifecycleConfiguration: {
        Rules: [{ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: 'Enabled' }],
      },
    },
  })
  data.hasResourceProperties('AWS::S3::BucketPolicy', denyWithoutTls())
})

test('the sealing key is retained, and only functions with the permission know its ARN', () => {
  data.hasResource('AWS::SecretsManager::Secret', {
    DeletionPolicy: 'Retain',
    Properties: { KmsKeyId: keyArn },
  })
  const readers = functions
    .filter(({ Environment }) => JSON.stringify(Environment).includes('SEALING_KEY_ARN'))
    .map(({ FunctionName }) => FunctionName)
  expect(readers.sort()).toEqual(
    deployedNames([
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

describe('functions', () => {
  test('run on Node 24 and arm64 with their names and timeouts', () => {
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

  test('have loop detection except those with long chains of invocations', () => {
    const allowed = functions
      .filter(({ RecursiveLoop }) => RecursiveLoop === 'Allow')
      .map(({ FunctionName }) => FunctionName)
    const delivering = ['deliver-sidelined-webhook', 'deliver-webhook', 'recover-deliveries']
    const expected = [...delivering, 'relay', 'submit-to-bank']
    expect(allowed.sort()).toEqual(deployedNames(expected))
  })

  test('never send to a queue that they consume', () => {
    for (const name of jobNames) {
      const { sends = [] } = permissionsOf(name)
      const consumed: readonly string[] = queuesConsumedBy(name)
      const both = sends.filter((queue) => consumed.includes(queue))
      expect(both, name).toEqual([])
    }
  })
})

test('the invocation trail records calls of operator functions only, if the stage enables it', () => {
  const [trail] = propertiesOf(service, 'AWS::CloudTrail::Trail')
  const [selector] = trail?.EventSelectors ?? []
  const { Resources } = service.toJSON()
  const recorded = selector.DataResources[0].Values.map(
    ({ 'Fn::GetAtt': [id] }: TemplateNode) => Resources[id].Properties.FunctionName,
  )
  const operators = rows.map(({ name }) => name).filter((name) => name.startsWith('manage-'))
  expect(recorded.sort()).toEqual(deployedNames(operators).sort())
  expect(selector).toMatchObject({ IncludeManagementEvents: false, ReadWriteType: 'All' })
  templatesOf(stageNamed('sandbox')).service.resourceCountIs('AWS::CloudTrail::Trail', 0)
})

describe('queues', () => {
  test('have a message schema and one consumer each', () => {
    const consumed = jobNames.flatMap(queuesConsumedBy)
    expect(consumed.sort()).toEqual(Object.keys(messages).sort())
    expect(queueRows.map(({ name }) => name).sort()).toEqual(consumed)
  })

  test('have their URLs in the environment of exactly their senders', () => {
    for (const { name, permissions } of rows) {
      const [deployed] = deployedNames([name])
      const lambda = functions.find(({ FunctionName }) => FunctionName === deployed)
      const variables = Object.keys(lambda?.Environment.Variables)
      const known = variables.filter((variable) => variable.startsWith('QUEUE_URL_'))
      const { sends = [] } = permissions
      expect(known.sort(), name).toEqual(sends.map(queueUrlVariable).sort())
    }
  })

  test('have dead-letter queues with longer retention; all are encrypted and require TLS', () => {
    for (const row of queues) {
      service.hasResourceProperties('AWS::SQS::Queue', {
        VisibilityTimeout: row.visibilitySeconds,
        MessageRetentionPeriod: row.retentionSeconds,
        RedrivePolicy: Match.objectLike({ maxReceiveCount: row.maxReceiveCount }),
      })
      expect(row.deadLetterRetentionSeconds).toBeGreaterThan(row.retentionSeconds)
    }
    // One more is the relay's on-failure queue.
    const all = 2 * queues.length + 1
    service.resourceCountIs('AWS::SQS::Queue', all)
    service.resourcePropertiesCountIs('AWS::SQS::Queue', { SqsManagedSseEnabled: true }, all)
    service.resourcePropertiesCountIs('AWS::SQS::QueuePolicy', denyWithoutTls(), all)
  })

  test('have visibility timeouts of at least six function timeouts', () => {
    for (const { name, visibilitySeconds } of queueRows) {
      const job = jobNames.find((consumer) => queuesConsumedBy(consumer).includes(name))
      const timeoutSeconds = job ? jobRow(job).timeoutSeconds : Infinity
      expect(visibilitySeconds, name).toBeGreaterThanOrEqual(6 * timeoutSeconds)
    }
  })

  test('have event sources that report single failures and limit concurrency', () => {
    const mappings = propertiesOf(service, 'AWS::Lambda::EventSourceMapping')
    expect(mappings).toHaveLength(queues.length + 1)
    for (const mapping of mappings) {
      expect(mapping.FunctionResponseTypes).toEqual(['ReportBatchItemFailures'])
    }
    const fromQueues = mappings.filter((mapping) => mapping.ScalingConfig !== undefined)
    expect(fromQueues).toHaveLength(queues.length)
  })
})

test('the stream has one consumer, from its beginning, with an on-failure queue', () => {
  const entities = ['debit', 'delivery', 'recovery', 'batch', 'build', 'exception', 'refund']
  const Pattern = JSON.stringify({ dynamodb: { NewImage: { entity: { S: entities } } } })
  service.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    StartingPosition: 'TRIM_HORIZON',
    BisectBatchOnFunctionError: true,
    MaximumRetryAttempts: 10,
    MaximumRecordAgeInSeconds: 23 * 3600,
    DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    FilterCriteria: { Filters: [{ Pattern }] },
  })
})

describe('recurring schedules', () => {
  const logicalId = (type: string, name: string): string =>
    Object.keys(service.findResources(type)).find((id) => id.slice(0, -8) === name) ?? ''

  test.each(recurring)('$name sends at $expression to $queue', (row) => {
    const name = row.queue.replaceAll('-', '')
    const queue = { 'Fn::GetAtt': [logicalId('AWS::SQS::Queue', name), 'Arn'] }
    const role = logicalId('AWS::IAM::Role', 'ScheduleRole')
    service.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: row.expression,
      ScheduleExpressionTimezone: 'UTC',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { Arn: queue, RoleArn: { 'Fn::GetAtt': [role, 'Arn'] }, Input: '{}' },
    })
    const send = Match.objectLike({ Action: 'sqs:SendMessage', Resource: queue })
    service.hasResourceProperties('AWS::IAM::Policy', {
      Roles: [{ Ref: role }],
      PolicyDocument: { Statement: Match.arrayWith([send]) },
    })
  })

  test('have no other members', () => {
    service.resourceCountIs('AWS::Scheduler::Schedule', recurring.length)
  })

  test('start settlement three times a night, and messages wait up to four days', () => {
    const ofSettlement = recurring.filter(({ queue }) => queue === 'settlement-runs')
    const expressions = ['cron(0 0 * * ? *)', 'cron(20 0 * * ? *)', 'cron(0 1 * * ? *)']
    expect(ofSettlement.map(({ expression }) => expression)).toEqual(expressions)
    for (const queue of ['settlement-runs', 'settlements', 'payments']) {
      const row = queueRows.find(({ name }) => name === queue)
      expect(row?.retentionSeconds, queue).toBe(4 * 86_400)
    }
  })

  test('start the sweep every minute; it ends within a minute, and a late message expires', () => {
    const ofSweep = recurring.filter(({ queue }) => queue === 'sweeps')
    expect(ofSweep.map(({ expression }) => expression)).toEqual(['rate(1 minute)'])
    expect(jobRow('sweep').timeoutSeconds).toBeLessThan(60)
    expect(queueRows.find(({ name }) => name === 'sweeps')?.retentionSeconds).toBe(120)
  })
})

describe('the API', () => {
  test('has a method per operation, and ANY for all other methods and paths', () => {
    const methods = propertiesOf(service, 'AWS::ApiGateway::Method')
    const count = (...names: string[]) =>
      methods.filter(({ HttpMethod }) => names.includes(HttpMethod)).length
    const paths = new Set(operationNames.map((name) => operations[name].path))
    const reads = operationNames.filter((name) => operations[name].method === 'GET')
    expect(count('HEAD')).toBe(reads.length)
    expect(count('GET', 'POST')).toBe(operationNames.length)
    // Every path, the root, and the greedy proxy.
    expect(count('ANY')).toBe(paths.size + 2)
  })

  test('passes bodies as binary', () => {
    service.hasResourceProperties('AWS::ApiGateway::RestApi', { BinaryMediaTypes: ['*/*'] })
  })

  test('sends all gateway responses in the envelope', () => {
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
