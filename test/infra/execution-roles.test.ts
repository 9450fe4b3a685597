import { expect, test } from 'vitest'
import { functionsOf } from '../../infra/definitions/functions.ts'
import { wildcardReasons } from '../../infra/definitions/iam-resources.ts'
import {
  codeStatements,
  formatPermission,
  permissionsIn,
  roleStatements,
} from '../../infra/definitions/iam-statements.ts'
import { jobNames, jobRow } from '../../infra/definitions/jobs.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { deadLetters, queueNames } from '../../shared/queues/messages.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

/** Reads roles and policies from the templates, without the code that defines them. */

// This stage has all functions.
const stage = stageNamed('sandbox')
const { all } = templatesOf(stage)

const names = functionsOf(stage).map(({ name }) => name)
const functions = propertiesOf(all, 'AWS::Lambda::Function')
const roles: TemplateNode = all.findResources('AWS::IAM::Role')
const policies = propertiesOf(all, 'AWS::IAM::Policy')

const roleOf = (name: string): string =>
  functions.find(({ FunctionName }) => FunctionName?.endsWith(`-sandbox-${name}`))?.Role[
    'Fn::GetAtt'
  ][0]

const statementsOfRole = (role: string): TemplateNode[] =>
  policies
    .filter(({ Roles }) => Roles.some(({ Ref }: TemplateNode) => Ref === role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
const statementsOf = (name: string): TemplateNode[] => statementsOfRole(roleOf(name))
const statements = names.flatMap(statementsOf)

const ARN = (name: string) => new RegExp(`^\\{"Fn::GetAtt":\\["${name}\\w{8}","Arn"\\]\\}$`)

/** Returns the beginning of the logical id of a queue. */
const idOf = (queue: string): string => queue.replaceAll(/\W/g, '')

/** Resources of the template in the notation of the statements. */
const resources: [RegExp, string][] = [
  [/-data:ExportsOutputFnGetAttTable\w+StreamArn\w+"\}?\}?$/, 'stream'],
  [/"\/(index\/[^"]+)"/, '$1'],
  [/^\{"Fn::ImportValue":"[^"]+-data:ExportsOutputFnGetAttTable\w+Arn\w+"\}$/, 'table'],
  [/-data:ExportsOutputRefSealingKey/, 'sealing-key'],
  [/-data:ExportsOutputFnGetAttReports.*\},"([^"]+)"\]\]\}$/, 'reports$1'],
  [/-data:ExportsOutputFnGetAttReports/, 'reports'],
  [/-data:ExportsOutputFnGetAttAudit.*\},"([^"]+)"\]\]\}$/, 'audit$1'],
  [/-data:ExportsOutputFnGetAttAudit/, 'audit'],
  [/-data:ExportsOutputFnGetAttKey/, 'key'],
  [/:function:debit-collection-sandbox-([^"]+)"/, 'function/$1'],
  [/:sqs:.*:debit-collection-sandbox-([^"]+)"/, 'queue/$1'],
  [/:schedule\/.*"([^"]+)"\]\]\}$/, 'schedules$1'],
  [/^"\*"$/, '*'],
  [ARN('\\w*lostrecords'), 'lost-records'],
  [ARN('\\w*log'), 'log'],
  [ARN('ScheduleRole'), 'schedule-role'],
  ...queueNames.map((queue): [RegExp, string] => [
    new RegExp(`-jobs:ExportsOutputFnGetAtt${idOf(queue)}\\w{8}Arn`),
    `queue/${queue}`,
  ]),
  ...queueNames.map((queue): [RegExp, string] => [ARN(idOf(queue)), `queue/${queue}`]),
  ...queueNames.map((queue): [RegExp, string] => [
    ARN(idOf(deadLetters(queue))),
    `queue/${deadLetters(queue)}`,
  ]),
]

const resourceIn = (resource: TemplateNode): string => {
  const text = JSON.stringify(resource)
  for (const [pattern, name] of resources) {
    const match = pattern.exec(text)
    if (match) return name.replace('$1', match[1] ?? '')
  }
  return text
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value])
const keysIn = ({ Condition }: TemplateNode): string[] =>
  list(Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? [])

test.each(names)('the role of %s has exactly the permissions of its statements', (name) => {
  const inTemplate = statementsOf(name).flatMap((statement) =>
    list<string>(statement.Action).flatMap((action) =>
      list<TemplateNode>(statement.Resource).flatMap((node) => {
        const effect = statement.Effect === 'Deny' ? { effect: 'Deny' as const } : {}
        const permission = { ...effect, action, resource: resourceIn(node) }
        const keys = keysIn(statement)
        return keys.length > 0 ? keys.map((key) => ({ ...permission, key })) : [permission]
      }),
    ),
  )
  const expected = permissionsIn(roleStatements(name))
  expect(inTemplate.map(formatPermission).sort()).toEqual(expected.map(formatPermission).sort())
  // IAM's limit is 10,240 characters; ARNs replace references.
  expect(JSON.stringify(statementsOf(name)).length).toBeLessThan(9_500)
})

test('a role belongs to one function, trusts only Lambda, and has no managed policy', () => {
  const ids = names.map(roleOf)
  expect(new Set(ids).size).toBe(names.length)
  for (const id of ids) {
    const { AssumeRolePolicyDocument, ...otherProperties } = roles[id].Properties
    expect(otherProperties).toEqual({})
    const Principal = { Service: 'lambda.amazonaws.com' }
    const statement = { Action: 'sts:AssumeRole', Effect: 'Allow', Principal }
    expect(AssumeRolePolicyDocument.Statement).toEqual([statement])
  }
})

test('the statements allow no wildcards without a reason, and limit items, keys and roles', () => {
  for (const statement of statements) {
    const { Effect, Action, Resource, Condition, ...rest } = statement
    const actions = expect.not.stringContaining('*')
    // test/infra/iam-simulation.test.ts checks the denials.
    expect([Effect, JSON.stringify(Action), rest]).toEqual([
      expect.stringMatching(/^(?:Allow|Deny)$/),
      actions,
      {},
    ])
    for (const node of list<TemplateNode>(Resource)) {
      const resource = resourceIn(node)
      if (JSON.stringify(node).includes('*')) expect(wildcardReasons).toHaveProperty([resource])
      const hasItems = /^(?:table$|index\/)/.test(resource)
      expect(keysIn(statement).length > 0).toBe(hasItems)
      expect(keysIn(statement)).not.toContain('*')
      // The encryption key is used through AWS services only.
      expect(Condition?.StringEquals?.['kms:ViaService'] !== undefined).toBe(resource === 'key')
    }
  }
})

test('only schedule-timeout may pass a role, and only to Scheduler', () => {
  const passing = names.flatMap((name) =>
    statementsOf(name)
      .filter(({ Action }) => list<string>(Action).includes('iam:PassRole'))
      .map(({ Condition }) => [name, Condition]),
  )
  const condition = { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } }
  expect(passing).toEqual([['schedule-timeout', condition]])
})

test('the functions that write objects, those of the audit too, may encrypt them by S3', () => {
  const allows = (name: string, action: string, service = ''): boolean =>
    statementsOf(name).some(
      ({ Action, Condition }) =>
        [Action].flat().includes(action) && JSON.stringify(Condition ?? '').includes(service),
    )
  const writers = names.filter((name) => allows(name, 's3:PutObject'))
  expect(writers).toEqual(expect.arrayContaining(['build-batch', 'reconcile-part']))
  expect(writers.filter((name) => !allows(name, 'kms:GenerateDataKey', 's3.'))).toEqual([])
})

test('the functions query all indexes of the table and no others', () => {
  const queried = names.flatMap((name) =>
    codeStatements(name).flatMap(({ resource }) => /^index\/(.*)$/.exec(resource)?.[1] ?? []),
  )
  const indexes = tableDefinition.indexes.map(({ name }) => name)
  expect([...new Set(queried)].sort()).toEqual(indexes.sort())
})

test('the role of schedules may only send to their target queues and the dead letters of these', () => {
  const [role = ''] = Object.keys(roles).filter((id) => /^ScheduleRole\w{8}$/.test(id))
  const allowed = statementsOfRole(role).map(
    ({ Action, Resource }) => `${Action} ${resourceIn(Resource)}`,
  )
  const targets = jobNames.flatMap((name) => {
    const { from, every } = jobRow(name)
    return every && 'queues' in from ? from.queues.slice(0, 1) : []
  })
  const expected = ['expiries', ...targets].flatMap((queue) =>
    [queue, `${queue}-dead-letters`].map((name) => `sqs:SendMessage queue/${name}`),
  )
  expect(allowed.sort()).toEqual(expected.sort())
})
