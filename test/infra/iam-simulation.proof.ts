import { expect, test } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { arnFor, checksOf } from '../support/iam/checks.ts'
import { deployedStage } from '../support/iam/deployed-stage.ts'
import { platformChecks, schedulerContext } from '../support/iam/platform-checks.ts'
import { ACCOUNT, REGION } from '../support/iam/resolve-templates.ts'
import { deniedChecks, type SimulatedResult, simulate } from '../support/iam/simulate.ts'

/** Simulates IAM with the policies of the templates. A run of all flow tests simulates its calls. */

const stage = deployedStage(stageNamed('sandbox'))
const arnOf = (name: string, resource: string) => arnFor(stage, name, resource)
const roleOf = (name: string): string => stage.functionNamed(name).Role

const restoredTable = { name: 'restored', streamLabel: '2026-11-22T00:00:00.000' }
const stages = {
  sandbox: stage,
  'production with a restored table': deployedStage({ ...stageNamed('production'), restoredTable }),
}

test.each(Object.entries(stages))(
  'AWS may invoke, poll, log and send schedules in %s',
  async (_, deployed) => {
    const checks = platformChecks(deployed)
    const sources = deployed
      .propertiesOf('AWS::Lambda::EventSourceMapping')
      .map(({ EventSourceArn }) => EventSourceArn)
    expect(checks.map(({ resource }) => resource)).toEqual(expect.arrayContaining(sources))
    expect(await deniedChecks(deployed, checks)).toEqual([])
  },
)

const keys = (...names: string[]) => ({ 'dynamodb:LeadingKeys': names })
const via = (service: string) => ({ 'kms:ViaService': `${service}.${REGION}.amazonaws.com` })
const passedTo = (service: string) => ({ 'iam:PassedToService': `${service}.amazonaws.com` })

const table = arnOf('charge', 'table')
const [key = ''] = stage.arnsOf('AWS::KMS::Key')
const debit = 'DEBIT#DCS-20261121-ABC123'
const report = arnOf('build-batch', 'reports/settlements/demo/STL-20261121-ABCDEF.csv')
const audit = arnOf('reconcile-part', 'audit/2026-11-21.json')
const sealingKey = arnOf('charge', 'sealing-key')
const scheduleRole = arnOf('schedule-timeout', 'schedule-role')
const submissions = arnOf('relay', 'queue/submissions')
const logOf = (name: string) =>
  `arn:aws:logs:${REGION}:${ACCOUNT}:log-group:${stage.functionNamed(name).LoggingConfig.LogGroup}:log-stream:1`

test.each(Object.entries(stages))(
  'the charge function may write in %s, whether a write is checked with its own key or with all keys',
  async (_, deployed) => {
    const writes = [
      ['PutItem', debit],
      ['PutItem', 'PROVIDER#demo#0123'],
      ['UpdateItem', 'PROVIDER#demo'],
    ] as const
    const checks = checksOf(deployed, {
      name: 'charge',
      command: 'TransactWriteCommand',
      checks: writes.map(([action, pk]) => ({
        required: { action: `dynamodb:${action}`, resource: 'table', key: pk },
        allowedBy: '',
      })),
    })
    const all = keys(...writes.map(([, pk]) => pk))
    expect(checks).toContainEqual(expect.objectContaining({ context: all }))
    expect(checks).toContainEqual(expect.objectContaining({ context: keys('PROVIDER#demo') }))
    expect(await deniedChecks(deployed, checks)).toEqual([])
  },
)

type Row = [
  name: string,
  action: string,
  resource: string,
  context?: Record<string, string | string[]>,
]

const implicit: Row[] = [
  ['charge', 'dynamodb:DeleteTable', table],
  ['charge', 'dynamodb:Scan', table],
  ['charge', 'dynamodb:PutItem', table, keys('CREDENTIAL#0123')],
  ['charge', 'dynamodb:DeleteItem', table, keys(debit)],
  ['charge', 'dynamodb:UpdateItem', table, keys('WINDOW#list-banks#demo')],
  ['charge', 'dynamodb:UpdateItem', table, keys(debit, 'PROVIDER#demo', 'FUNDS')],
  ['get-debit-request', 'dynamodb:PutItem', table, keys(debit)],
  ['list-debit-requests', 'dynamodb:Query', arnOf('sweep', 'index/work'), keys('PAY')],
  ['list-debit-requests', 'dynamodb:BatchGetItem', table, keys(debit, 'CREDENTIAL#0123')],
  ['deliver-webhook', 'dynamodb:GetItem', table, keys('CREDENTIAL#0123')],
  // Accounts and webhooks are outside the partition of their provider.
  ['charge', 'dynamodb:UpdateItem', table, keys('PAYEE#demo')],
  ['charge', 'dynamodb:GetItem', table, keys('WEBHOOK#demo')],
  ['debit-callback', 'dynamodb:UpdateItem', table, keys('WEBHOOK#demo')],
  ['deliver-webhook', 'dynamodb:PutItem', table, keys('PAYEE#demo')],
  ['deliver-webhook', 'dynamodb:GetItem', table, keys('PAYEE#demo')],
  ['deliver-webhook', 'dynamodb:PutItem', table, keys('WEBHOOK#demo')],
  ['process-batch', 'dynamodb:PutItem', table, keys('PAYEE#demo')],
  ['relay', 'dynamodb:GetRecords', `${table}-other/stream/2026-01-01T00:00:00.000`],
  ['charge', 'logs:PutLogEvents', logOf('relay')],
  ['charge', 'kms:Decrypt', key],
  ['charge', 'kms:Decrypt', key, via('s3')],
  ['charge', 'kms:CreateGrant', key, via('dynamodb')],
  ['charge', 'kms:GenerateDataKey', key, via('secretsmanager')],
  ['schedule-timeout', 'kms:Encrypt', key, via('dynamodb')],
  ['get-settlement-report', 'kms:GenerateDataKey', key, via('s3')],
  ['get-settlement-report', 's3:PutObject', report],
  ['build-batch', 's3:GetObject', report],
  ['build-batch', 's3:DeleteObject', report],
  ['manage-change', 's3:PutObject', audit],
  ['reconcile-part', 's3:DeleteObject', audit],
  ['reconcile-part', 's3:BypassGovernanceRetention', audit],
  ['build-batch', 's3:PutObject', arnOf('build-batch', 'reports/restores/generation.json')],
  ['charge', 'sqs:SendMessage', submissions],
  ['submit-to-bank', 'sqs:PurgeQueue', submissions],
  ['schedule-timeout', 'iam:PassRole', scheduleRole, passedTo('lambda')],
  ['schedule-timeout', 'iam:PassRole', roleOf('sweep'), passedTo('scheduler')],
  ['schedule-timeout', 'scheduler:DeleteSchedule', arnOf('schedule-timeout', 'schedules/1')],
  ['charge', 'scheduler:CreateSchedule', arnOf('schedule-timeout', 'schedules/1')],
  ['manage-approval', 'lambda:InvokeFunction', arnOf('manage-approval', 'function/relay')],
  ['charge', 'lambda:InvokeFunction', arnOf('manage-approval', 'function/manage-debit')],
  ['manage-limit', 'secretsmanager:GetSecretValue', sealingKey],
  ['manage-bank', 'secretsmanager:PutSecretValue', sealingKey],
]

const CHANGE = keys('CHANGES')

const explicit: Row[] = [
  // The writes of these roles have all of their keys in common.
  ['manage-customer', 'dynamodb:DeleteItem', table, CHANGE],
  ['manage-webhook', 'dynamodb:DeleteItem', table, CHANGE],
  ['manage-exception', 'dynamodb:UpdateItem', table, CHANGE],
  ['manage-approval', 'dynamodb:UpdateItem', table, CHANGE],
  ['relay', 'sqs:SendMessage', submissions, { 'aws:SecureTransport': 'false' }],
  ['build-batch', 's3:PutObject', report, { 'aws:SecureTransport': 'false' }],
  ['build-batch', 's3:PutObject', report, { 's3:TlsVersion': '1.1' }],
]

const rows: [SimulatedResult, ...Row][] = [
  ...implicit.map((row): [SimulatedResult, ...Row] => ['ImplicitlyDenied', ...row]),
  ...explicit.map((row): [SimulatedResult, ...Row] => ['ExplicitlyDenied', ...row]),
]

test.each(rows)(
  'the simulation answers %s: %s calls %s on %s with %o',
  async (expected, name, action, resource, context) => {
    const check = { principal: roleOf(name), action, resource, ...(context && { context }) }
    expect((await simulate(stage, check)).result).toBe(expected)
  },
)

test('only the functions of their nouns may write settlement accounts and webhooks', async () => {
  const writers = async (pk: string) => {
    const names: string[] = []
    for (const name of stage.functionNames) {
      const checks = ['UpdateItem', 'DeleteItem', 'PutItem'].map((action) =>
        simulate(stage, {
          ...{ principal: roleOf(name), action: `dynamodb:${action}`, resource: table },
          context: keys(pk),
        }),
      )
      const results = await Promise.all(checks)
      if (results.some(({ result }) => result === 'Allowed')) names.push(name)
    }
    return names.sort()
  }
  expect(await writers('PAYEE#demo')).toEqual(['manage-provider'])
  expect(await writers('WEBHOOK#demo')).toEqual(['manage-secret', 'manage-webhook'])
})

test('every role denies the update and the removal of a change record, and no role denies a put', async () => {
  for (const name of stage.functionNames) {
    for (const action of ['UpdateItem', 'DeleteItem', 'PutItem']) {
      const check = { principal: roleOf(name), action: `dynamodb:${action}`, resource: table }
      const { result } = await simulate(stage, { ...check, context: CHANGE })
      expect([name, action, result === 'ExplicitlyDenied']).toEqual([
        name,
        action,
        action !== 'PutItem',
      ])
    }
  }
})

const scheduler = 'scheduler.amazonaws.com'
const { SCHEDULE_GROUP } = stage.functionNamed('schedule-timeout').Environment.Variables

test.each([
  [scheduler, roleOf('charge'), {}],
  ['lambda.amazonaws.com', scheduleRole, {}],
  [roleOf('charge'), roleOf('manage-debit'), {}],
  [scheduler, scheduleRole, schedulerContext(ACCOUNT, 'default')],
  [scheduler, scheduleRole, schedulerContext('999999999999', SCHEDULE_GROUP)],
])('the principal %s may not assume %s with %o', async (principal, resource, context) => {
  const check = { principal, action: 'sts:AssumeRole', resource, context }
  expect((await simulate(stage, check)).result).toBe('ImplicitlyDenied')
})

test.each(['manage-debit', 'process-batch'])('API Gateway may not invoke %s', async (name) => {
  const resource = `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${stage.functionNamed(name).FunctionName}`
  const check = { principal: 'apigateway.amazonaws.com', action: 'lambda:InvokeFunction', resource }
  expect((await simulate(stage, check)).result).toBe('ImplicitlyDenied')
})
