import { Match, type Template } from 'aws-cdk-lib/assertions'
import { ResponseType } from 'aws-cdk-lib/aws-apigateway'
import { expect, test } from 'vitest'
import { functionsOf } from '../../infra/definitions/functions.ts'
import { gatewayResponses } from '../../infra/definitions/gateway-responses.ts'
import { roleStatements } from '../../infra/definitions/iam-statements.ts'
import { type ChangeFilter, jobs, queuesOf, recurring } from '../../infra/definitions/jobs.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { rowsOf } from '../support/rows.ts'
import {
  expectGatewayResponses,
  propertiesOf,
  type TemplateNode,
  templatesOf,
} from '../support/templates.ts'

const production = stageNamed('production')
const { data, all } = templatesOf(production)
const rows = functionsOf(production)
const queues = queuesOf(production)

/** Returns the names of the functions with these properties, without the prefix of the stage. */
const functionsWith = (isMatch: (properties: TemplateNode) => boolean, template = all): string[] =>
  propertiesOf(template, 'AWS::Lambda::Function')
    .filter(isMatch)
    .map(({ FunctionName }) => FunctionName.replace('debit-collection-production-', ''))
    .sort()

/** Returns a resource with its policies and properties by its logical id, without the digits. */
const resourceNamed = (name: string): TemplateNode => {
  const resources = Object.entries<TemplateNode>(all.toJSON().Resources)
  const [, found] = resources.find(([id]) => id.slice(0, -8) === name) ?? []
  return { ...found, ...found?.Properties }
}

// AWS Solutions has rules for public access, TLS, access logs and key rotation.
const facts = rowsOf(`
  Table          BillingMode                             "PAY_PER_REQUEST"
  Table          SSESpecification                        {"SSEEnabled":true,"SSEType":"KMS"}
  Table          StreamSpecification.StreamViewType      "NEW_AND_OLD_IMAGES"
  Table          TimeToLiveSpecification                 {"AttributeName":"expiresAt","Enabled":true}
  Table          Replicas.0.DeletionProtectionEnabled    true
  Table          Replicas.0.SSESpecification             {"KMSMasterKeyId":KEY}
  Table          Replicas.0.PointInTimeRecoverySpecification  {"PointInTimeRecoveryEnabled":true}
  Reports        BucketEncryption.ServerSideEncryptionConfiguration.0.BucketKeyEnabled  true
  Reports        BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.KMSMasterKeyID  KEY
  Reports        BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.SSEAlgorithm  "aws:kms"
  Reports        VersioningConfiguration.Status          "Enabled"
  Reports        LifecycleConfiguration.Rules.0.AbortIncompleteMultipartUpload.DaysAfterInitiation  1
  Audit          BucketEncryption.ServerSideEncryptionConfiguration.0.ServerSideEncryptionByDefault.KMSMasterKeyID  KEY
  Audit          ObjectLockEnabled                       true
  Audit          ObjectLockConfiguration.Rule.DefaultRetention  {"Days":2562,"Mode":"COMPLIANCE"}
  SealingKey     KmsKeyId                                KEY
`)

test.each(facts)('the data stack has %s with %s: %s', (name = '', path = '', json = '') => {
  const resource = resourceNamed(name)
  const value = path.split('.').reduce((node, key) => node?.[key], resource)
  const [key] = Object.keys(all.findResources('AWS::KMS::Key'))
  expect(value).toEqual(JSON.parse(json.replace('KEY', `{"Fn::GetAtt":["${key}","Arn"]}`)))
  expect([resource.DeletionPolicy, resource.UpdateReplacePolicy]).toEqual([
    'RetainExceptOnCreate',
    'Retain',
  ])
})

test('the variable PAYOUTS_WAIT_FOR_FUNDING reaches the functions that change funds, if the stage enables it', () => {
  const waiting = (payoutsWaitForFunding: boolean) =>
    functionsWith(
      ({ Environment }) => Environment?.Variables?.PAYOUTS_WAIT_FOR_FUNDING === 'true',
      templatesOf({ ...production, payoutsWaitForFunding }).all,
    )
  expect(waiting(true)).toEqual(['manage-funding', 'manage-settlement', 'process-batch'])
  expect(waiting(false)).toEqual([])
})

test.each([
  ['OPEN_PROMPTS_MAX', '5', 'submit debits', ['submit-sidelined', 'submit-to-bank']],
  ['ERASE_AFTER_DAYS', '2190', 'erase debits', ['manage-customer', 'sweep']],
])('the variable %s of production is %s in the functions that %s', (name, value, _, expected) => {
  expect(functionsWith(({ Environment }) => Environment?.Variables?.[name] === value)).toEqual(
    expected,
  )
})

test('the years of production reach the functions that end debits or compare them with the books', () => {
  const ending = functionsWith(({ Environment }) => Environment?.Variables?.RETAIN_YEARS === '7')
  expect(ending).toHaveLength(24)
  expect(ending).not.toContain('charge')
})

test('the buckets remove exports after a day, erasures after more days than any backup lives, and their versions', () => {
  const days: unknown[] = []
  for (const bucket of propertiesOf(all, 'AWS::S3::Bucket')) {
    const isVersioned = 'VersioningConfiguration' in bucket || 'ObjectLockEnabled' in bucket
    for (const rule of bucket.LifecycleConfiguration.Rules) {
      if (!rule.ExpirationInDays) continue
      if (rule.Prefix) days.push([rule.Prefix, rule.ExpirationInDays, rule.Status])
      const versions = isVersioned ? { NoncurrentDays: 1 } : undefined
      expect(rule.NoncurrentVersionExpiration, JSON.stringify(rule)).toEqual(versions)
    }
  }
  expect(days).toEqual([
    ['exports/', 1, 'Enabled'],
    ['erasures/', 401, 'Enabled'],
  ])
})

test('a stage with a restored table keeps its own and uses the restored one only', () => {
  const restoredTable = { name: 'restored', streamLabel: '2026-11-21T10:05:00.000' }
  const restored = templatesOf({ ...production, restoredTable })
  expect(restored.data.findResources('AWS::DynamoDB::GlobalTable')).toEqual(
    data.findResources('AWS::DynamoDB::GlobalTable'),
  )
  const outputs = (template: Template) => Object.keys(template.findOutputs('*'))
  expect(outputs(restored.data)).toEqual(expect.arrayContaining(outputs(data)))
  const tables = propertiesOf(restored.all, 'AWS::Lambda::Function').flatMap(
    ({ Environment }) => Environment?.Variables?.TABLE_NAME ?? [],
  )
  expect(new Set(tables.map((name) => JSON.stringify(name)))).toHaveLength(1)
  const [, ...others] = restored.templates.map((template) => JSON.stringify(template.toJSON()))
  expect(others.join()).not.toContain('GetAttTable')
  expect(others.join()).toContain('/stream/2026-11-21T10:05:00.000')
})

test('a stack with `isOnly` no longer has the table that a restore has replaced, and nothing else changes', () => {
  const restoredTable = { name: 'restored', streamLabel: '2026-11-21T10:05:00.000' }
  const both = templatesOf({ ...production, restoredTable })
  const alone = templatesOf({ ...production, restoredTable: { ...restoredTable, isOnly: true } })
  const own = Object.entries(both.data.findResources('AWS::DynamoDB::GlobalTable'))
  expect(own.map(([, { DeletionPolicy }]) => DeletionPolicy)).toEqual(['RetainExceptOnCreate'])
  expect({ ...alone.all.toJSON().Resources, ...Object.fromEntries(own) }).toEqual(
    both.all.toJSON().Resources,
  )
  expect(alone.data.findResources('AWS::DynamoDB::GlobalTable')).toEqual({})
})

test('only functions with the permission know the ARN of the sealing key', () => {
  const readers = functionsWith(({ Environment }) =>
    JSON.stringify(Environment).includes('SEALING_KEY_ARN'),
  )
  const expected = [
    // Providers may sign their requests.
    ...operationNames.filter((name) => operations[name].caller === 'provider'),
    ...['deliver-sidelined-webhook', 'deliver-webhook', 'expire-debit', 'manage-bank'],
    ...[
      'manage-connector',
      // The key of the customer hashes.
      'manage-change',
      'manage-customer',
      'manage-provider',
      'manage-secret',
      'manage-settlement',
      'manage-webhook',
    ],
    ...['manage-approval', 'manage-debit', 'manage-delivery', 'manage-exception'],
    ...['process-batch', 'refund-customer', 'submit-sidelined', 'submit-to-bank', 'sweep'],
  ]
  expect(readers).toEqual(expected.sort())
})

test('the functions run on Node 24 and arm64 with their names and timeouts', () => {
  for (const { name, timeoutSeconds } of rows) {
    all.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: `debit-collection-production-${name}`,
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout: timeoutSeconds,
      Environment: { Variables: Match.objectLike({ STAGE: 'production', LIMITS: 'production' }) },
    })
  }
  all.resourceCountIs('AWS::Lambda::Function', rows.length)
})

test('the functions have loop detection except those with long chains of invocations', () => {
  expect(functionsWith(({ RecursiveLoop }) => RecursiveLoop === 'Allow')).toEqual([
    ...['deliver-sidelined-webhook', 'deliver-webhook', 'reconcile-part', 'recover-deliveries'],
    ...['relay', 'submit-sidelined', 'submit-to-bank'],
  ])
})

test('the buckets of audit and trail are locked for the years of the stage, and nobody may remove objects', () => {
  const buckets = Object.entries<TemplateNode>(all.findResources('AWS::S3::Bucket'))
  const locked = buckets.filter(([, { Properties }]) => Properties.ObjectLockEnabled)
  expect(locked.map(([id]) => id.slice(0, -8)).sort()).toEqual(['Audit', 'InvocationTrailBucket'])
  const policies = propertiesOf(all, 'AWS::S3::BucketPolicy')
  for (const [id, { Properties }] of locked) {
    const { DefaultRetention } = Properties.ObjectLockConfiguration.Rule
    expect(DefaultRetention).toEqual({ Days: 7 * 366, Mode: 'COMPLIANCE' })
    const policy = policies.find(({ Bucket }) => Bucket.Ref === id)
    expect(policy?.PolicyDocument.Statement).toContainEqual({
      ...{ Sid: 'KeepObjects', Effect: 'Deny', Principal: { AWS: '*' } },
      Action: ['s3:BypassGovernanceRetention', 's3:DeleteObject', 's3:DeleteObjectVersion'],
      Resource: { 'Fn::Join': ['', [{ 'Fn::GetAtt': [id, 'Arn'] }, '/*']] },
    })
  }
})

test('no function may remove an object or a version, or write to the audit, except the end of a reconciliation', () => {
  const statements = rows.map(({ name }) => [name, roleStatements(name)] as const)
  const namesWith = (isMatch: (action: string, resource: string) => boolean) =>
    statements.flatMap(([name, own]) =>
      own.some(({ actions, resource }) => actions.some((action) => isMatch(action, resource)))
        ? [name]
        : [],
    )
  expect(namesWith((action) => /^s3:(?:Delete|Bypass|PutObjectRetention|\*)/.test(action))).toEqual(
    [],
  )
  const writes = (action: string, resource: string) =>
    action === 's3:PutObject' && resource.startsWith('audit')
  expect(namesWith(writes)).toEqual(['reconcile-part'])
})

test('the invocation trail records calls of operator functions only, if the stage enables it', () => {
  const [trail] = propertiesOf(all, 'AWS::CloudTrail::Trail')
  const selector = trail?.EventSelectors.find(({ DataResources }: TemplateNode) => DataResources)
  const recorded = selector.DataResources[0].Values.map(
    ({ 'Fn::GetAtt': [id] }: TemplateNode) => all.toJSON().Resources[id].Properties.FunctionName,
  )
  const operators = functionsWith(({ FunctionName }) => FunctionName.includes('-manage-'))
  expect(recorded.sort()).toEqual(operators.map((name) => `debit-collection-production-${name}`))
  expect(selector).toMatchObject({ IncludeManagementEvents: false, ReadWriteType: 'All' })
  templatesOf(stageNamed('sandbox')).all.resourceCountIs('AWS::CloudTrail::Trail', 0)
})

test('the queues have their URLs in the environment of exactly their senders', () => {
  for (const queue of queues) {
    const known = functionsWith(({ Environment }) =>
      Object.keys(Environment?.Variables ?? {}).includes(queueUrlVariable(queue.name)),
    )
    const senders = rows.filter(({ permissions }) => permissions.sends?.includes(queue.name))
    expect(known, queue.name).toEqual(senders.map(({ name }) => name).sort())
  }
})

test('the queues have dead-letter queues with longer retention', () => {
  for (const row of queues) {
    all.hasResourceProperties('AWS::SQS::Queue', {
      VisibilityTimeout: row.visibilitySeconds,
      MessageRetentionPeriod: row.retentionSeconds,
      RedrivePolicy: Match.objectLike({ maxReceiveCount: row.maxReceiveCount }),
    })
    expect(row.deadLetterRetentionSeconds).toBeGreaterThan(row.retentionSeconds)
  }
  // One more is the relay's on-failure queue.
  all.resourceCountIs('AWS::SQS::Queue', 2 * queues.length + 1)
})

test('a FIFO queue has a FIFO dead-letter queue, deduplicates by body and has a rate for each group', () => {
  const fifo = propertiesOf(all, 'AWS::SQS::Queue').filter(({ FifoQueue }) => FifoQueue)
  const names = fifo.map(({ QueueName }) => QueueName.replace('debit-collection-production-', ''))
  expect(names.sort()).toEqual(['feeds-dead-letters.fifo', 'feeds.fifo'])
  all.hasResourceProperties('AWS::SQS::Queue', {
    QueueName: 'debit-collection-production-feeds.fifo',
    ContentBasedDeduplication: true,
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
  })
})

test('the queues have event sources that report single failures and limit concurrency', () => {
  const mappings = propertiesOf(all, 'AWS::Lambda::EventSourceMapping')
  const responses = mappings.flatMap(({ FunctionResponseTypes }) => FunctionResponseTypes)
  expect(responses).toEqual(Array(queues.length + 1).fill('ReportBatchItemFailures'))
  const limited = mappings.filter(({ ScalingConfig }) => ScalingConfig !== undefined)
  expect(limited).toHaveLength(queues.length)
})

test('the stream has one consumer, from its beginning, with an on-failure queue', () => {
  const strings = (values: ChangeFilter['next']) =>
    Object.fromEntries(
      Object.entries(values ?? {}).map(([name, accepted]) => [
        name,
        { S: accepted === 'any' ? [{ exists: true }] : accepted },
      ]),
    )
  // test/sandbox/aws/stream-filters.test.ts checks which changes they pass.
  const patterns = jobs.relay.from.stream.map(({ next, previous }) => ({
    ...(next && { NewImage: strings(next) }),
    ...(previous && { OldImage: strings(previous) }),
  }))
  all.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    StartingPosition: 'TRIM_HORIZON',
    BisectBatchOnFunctionError: true,
    MaximumRetryAttempts: 10,
    MaximumRecordAgeInSeconds: 23 * 3600,
    DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    FilterCriteria: {
      Filters: patterns.map((dynamodb) => ({ Pattern: JSON.stringify({ dynamodb }) })),
    },
  })
})

test.each(recurring)('a schedule sends at $expression to $queue', (row) => {
  const arnOf = (type: string, name: string) => {
    const id = Object.keys(all.findResources(type)).find((id) => id.slice(0, -8) === name)
    return { 'Fn::GetAtt': [id, 'Arn'] }
  }
  const Arn = arnOf('AWS::SQS::Queue', row.queue.replaceAll('-', ''))
  all.hasResourceProperties('AWS::Scheduler::Schedule', {
    ScheduleExpression: row.expression,
    ScheduleExpressionTimezone: 'UTC',
    FlexibleTimeWindow: { Mode: 'OFF' },
    Target: { Arn, RoleArn: arnOf('AWS::IAM::Role', 'ScheduleRole'), Input: '{}' },
  })
  all.resourceCountIs('AWS::Scheduler::Schedule', recurring.length)
})

test('the API has a method per operation, ANY for all others, and passes bodies as binary', () => {
  const methods = propertiesOf(all, 'AWS::ApiGateway::Method')
  const counts = Object.entries(Object.groupBy(methods, ({ HttpMethod }) => HttpMethod))
  const paths = new Set(operationNames.map((name) => operations[name].path))
  const reads = operationNames.filter((name) => operations[name].method === 'GET').length
  expect(Object.fromEntries(counts.map(([method, list]) => [method, list?.length]))).toEqual({
    GET: reads,
    HEAD: reads,
    POST: operationNames.length - reads,
    // Every path, the root, and the greedy proxy.
    ANY: paths.size + 2,
  })
  all.hasResourceProperties('AWS::ApiGateway::RestApi', { BinaryMediaTypes: ['*/*'] })
})

test('all gateway responses have the envelope', () => {
  const types = Object.values(ResponseType as unknown as Record<string, ResponseType>)
    .filter((type) => type instanceof ResponseType)
    .map(({ responseType }) => responseType)
  expect(Object.keys(gatewayResponses).sort()).toEqual(types.sort())
  expectGatewayResponses(all, gatewayResponses)
})
