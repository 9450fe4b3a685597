import { readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import { completeStage } from '../../infra/definitions/complete-stage.ts'
import { functionsOf } from '../../infra/definitions/functions.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { propertiesOf, templatesOf } from '../support/templates.ts'

const stage = stageNamed('production')
const { all } = templatesOf(stage)
const rows = functionsOf(stage)

test('the endpoints and event sources invoke the live alias of a function', () => {
  const aliases = all.findResources('AWS::Lambda::Alias')
  const endpointsAndJobs = rows.filter(({ name }) => !name.startsWith('manage-'))
  expect(Object.keys(aliases)).toHaveLength(endpointsAndJobs.length)
  const uris = propertiesOf(all, 'AWS::ApiGateway::Method').map(
    ({ Integration }) => Integration.Uri,
  )
  const sources = propertiesOf(all, 'AWS::Lambda::EventSourceMapping')
  for (const target of [...uris, ...sources.map(({ FunctionName }) => FunctionName)]) {
    const [, ref] = /\{"Ref":"(\w+live\w+)"\}/.exec(JSON.stringify(target)) ?? []
    expect(aliases[ref ?? '']?.Properties.Name, JSON.stringify(target)).toBe('live')
  }
})

test('the charge, status and bank operations move to a new version by a tenth a minute with alarms', () => {
  const groups = propertiesOf(all, 'AWS::CodeDeploy::DeploymentGroup')
  expect(groups).toHaveLength(5)
  for (const group of groups) {
    expect(group).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaLinear10PercentEvery1Minute',
      AlarmConfiguration: { Enabled: true },
      AutoRollbackConfiguration: { Enabled: true },
    })
    expect(group.AlarmConfiguration.Alarms).toHaveLength(3)
  }
  const gradual = Object.values(all.findResources('AWS::Lambda::Alias')).flatMap(
    ({ UpdatePolicy, Properties }) => (UpdatePolicy ? [Properties.FunctionName.Ref] : []),
  )
  expect(gradual.map((id) => all.toJSON().Resources[id].Properties.FunctionName).sort()).toEqual(
    ['charge', 'debit-callback', 'get-debit-request', 'list-debit-transactions']
      .concat('update-debit-transaction')
      .map((name) => `debit-collection-production-${name}`),
  )
})

// CodeDeploy refuses a rollout while one of its alarms rings, as it does for a paused stage.
const atOnce = [{ paused: 'true' }, { canary: 'false' }]
test.each(atOnce)('all functions switch at once with %j, and the alarms remain', (context) => {
  const atOnce = templatesOf(stageNamed('production', context)).all
  expect(propertiesOf(atOnce, 'AWS::CodeDeploy::DeploymentGroup')).toEqual([])
  const aliases = Object.values(atOnce.findResources('AWS::Lambda::Alias'))
  expect(aliases).toHaveLength(Object.keys(all.findResources('AWS::Lambda::Alias')).length)
  expect(aliases.filter(({ UpdatePolicy }) => UpdatePolicy)).toEqual([])
  const alarmsOf = (template: typeof all) => propertiesOf(template, 'AWS::CloudWatch::Alarm')
  expect(alarmsOf(atOnce)).toEqual(alarmsOf(all))
})

test('each schedule has the dead-letter queue of its target, and the role trusts their group only', () => {
  for (const { Target } of propertiesOf(all, 'AWS::Scheduler::Schedule')) {
    const [id] = Target.Arn['Fn::GetAtt']
    const [deadLetters] = Target.DeadLetterConfig.Arn['Fn::GetAtt']
    expect(deadLetters.slice(0, -8)).toBe(`${id.slice(0, -8)}deadletters`)
  }
  const roles = Object.entries(all.findResources('AWS::IAM::Role'))
  const [, role] = roles.find(([id]) => id.startsWith('ScheduleRole')) ?? []
  expect(role?.Properties.AssumeRolePolicyDocument.Statement[0].Condition).toEqual({
    StringEquals: {
      'aws:SourceAccount': { Ref: 'AWS::AccountId' },
      'aws:SourceArn': { 'Fn::GetAtt': ['Schedules', 'Arn'] },
    },
  })
})

const PAGE = ['deployment', 'restore']
  .map((name) => readFileSync(`docs/${name}.md`, 'utf8'))
  .join('')

test('the stacks that a rollback deploys are all but those with data, addresses, exports and backups', () => {
  const [, pattern = ''] = /^npx cdk deploy "([^"]+)" --exclusively/m.exec(PAGE) ?? []
  const { stacks } = templatesOf(completeStage)
  const kept = Object.entries(stacks).flatMap(([part, { stackName }]) =>
    matchesGlob(stackName, pattern.replace('$STAGE', completeStage.name)) ? [] : [part],
  )
  expect(kept).toEqual(['data', 'network', 'lake', 'backup'])
})

test('each setting that a command of the pages passes to the CDK is known to its app', () => {
  const [, list = ''] =
    /^const SETTINGS = \[(.*)\]$/m.exec(readFileSync('infra/stacks/app.ts', 'utf8')) ?? []
  const passed = [...PAGE.matchAll(/ -c (\w+)=/g)].map(([, name = '']) => name)
  expect(passed.length).toBeGreaterThan(8)
  expect(passed.filter((name) => !list.includes(`'${name}'`))).toEqual([])
})
