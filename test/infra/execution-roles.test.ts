import { describe, expect, test } from 'vitest'
import {
  codeStatements,
  formatPermission,
  permissionsIn,
  platformStatements,
  wildcardReasons,
} from '../../infra/definitions/iam-statements.ts'
import { jobNames, jobRow } from '../../infra/definitions/jobs.ts'
import { functionsOf } from '../../infra/definitions/stage-resources.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { messages } from '../../shared/queues/messages.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

/** Reads roles and policies from the templates, without the code that defines them. */

// This stage has all functions.
const stage = stageNamed('sandbox')
const { service } = templatesOf(stage)

const functions = propertiesOf(service, 'AWS::Lambda::Function')
const roles: TemplateNode = service.findResources('AWS::IAM::Role')
const policies = propertiesOf(service, 'AWS::IAM::Policy')

const roleOf = (name: string): string =>
  functions.find(({ FunctionName }) => FunctionName.endsWith(`-sandbox-${name}`))?.Role[
    'Fn::GetAtt'
  ][0]

const statementsOfRole = (role: string): TemplateNode[] =>
  policies
    .filter(({ Roles }) => Roles.some(({ Ref }: TemplateNode) => Ref === role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
const statementsOf = (name: string): TemplateNode[] => statementsOfRole(roleOf(name))

/** Removes the eight digits from a logical id; the rest is the name without dashes. */
const logicalName = (id: string): string => id.slice(0, -8)

const queueNames = new Map(
  Object.keys(messages).map((queue) => [queue.replaceAll('-', ''), `queue/${queue}`]),
)

const exportPatterns: [RegExp, string][] = [
  [/-data:ExportsOutputFnGetAttTable\w+StreamArn\w+"$/, 'stream'],
  [/-data:ExportsOutputFnGetAttTable\w+Arn\w+"$/, 'table'],
  [/-data:ExportsOutputRefSealingKey\w+"$/, 'sealing-key'],
  [/-data:ExportsOutputFnGetAttReports\w+Arn\w+"$/, 'reports'],
  [/-data:ExportsOutputFnGetAttKey\w+Arn\w+"$/, 'key'],
]

const namedResource = (name: string): string => {
  if (name.endsWith('lostrecords')) return 'lost-records'
  if (name.endsWith('log')) return 'log'
  return name === 'ScheduleRole' ? 'schedule-role' : (queueNames.get(name) ?? name)
}

/** Translates a resource of the template to the notation of the statements. */
const resourceIn = (resource: TemplateNode): string => {
  const [owner, attribute] = resource['Fn::GetAtt'] ?? []
  if (attribute === 'Arn') return namedResource(logicalName(owner))
  if (resource['Fn::ImportValue']) {
    const text = JSON.stringify(resource['Fn::ImportValue'])
    return exportPatterns.find(([pattern]) => pattern.test(text))?.[1] ?? text
  }
  const parts: (string | TemplateNode)[] = resource['Fn::Join']?.[1] ?? []
  const end = String(parts.at(-1))
  if (end.startsWith('/index/')) return end.slice(1)
  const [, invoked] = /:function:debit-collection-sandbox-(.+)$/.exec(end) ?? []
  if (invoked) return `function/${invoked}`
  if (JSON.stringify(parts).includes('GetAttReports')) return `reports${end}`
  if (parts.some((part) => String(part).includes(':schedule/'))) return `schedules${end}`
  return JSON.stringify(resource)
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value])

const permissionsOfTemplate = (name: string): string[] =>
  statementsOf(name).flatMap(({ Action, Resource, Condition, ...rest }) => {
    expect(rest, name).toEqual({ Effect: 'Allow' })
    const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']
    return list<string>(Action).flatMap((action) =>
      list<TemplateNode>(Resource).flatMap((node) => {
        const resource = resourceIn(node)
        return keys
          ? list<string>(keys).map((key) => formatPermission({ action, resource, key }))
          : [formatPermission({ action, resource })]
      }),
    )
  })

const names = functionsOf(stage).map(({ name }) => name)

describe('the role of a function', () => {
  test.each(names)('contains exactly the permissions of %s', (name) => {
    const expected = permissionsIn([...codeStatements(name), ...platformStatements(name)])
    expect(permissionsOfTemplate(name).sort()).toEqual(expected.map(formatPermission).sort())
  })

  test('belongs to one function, trusts only Lambda, and has no managed policy', () => {
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

  test('has no wildcard actions, and wildcard resources only with a reason', () => {
    const reasons = Object.keys(wildcardReasons)
    for (const { Action, Resource } of names.flatMap(statementsOf)) {
      expect(JSON.stringify(Action)).not.toContain('*')
      for (const node of list<TemplateNode>(Resource)) {
        if (JSON.stringify(node).includes('*')) expect(reasons).toContain(resourceIn(node))
      }
    }
  })

  test('limits item actions to partition keys', () => {
    for (const { Resource, Condition } of names.flatMap(statementsOf)) {
      const hasItems = /^(?:table$|index\/)/.test(resourceIn(Resource))
      const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []
      expect(list<string>(keys).length > 0).toBe(hasItems)
      expect(keys).not.toContain('*')
    }
  })

  test('uses the encryption key only through AWS services', () => {
    for (const { Resource, Condition } of names.flatMap(statementsOf)) {
      const via: unknown[] = list(Condition?.StringEquals?.['kms:ViaService'] ?? [])
      expect(via.length > 0).toBe(resourceIn(Resource) === 'key')
    }
  })

  test('may pass a role only in schedule-timeout and only to Scheduler', () => {
    const passRole = names.flatMap((name) =>
      statementsOf(name)
        .filter(({ Action }) => Action === 'iam:PassRole')
        .map(({ Condition }) => [name, Condition]),
    )
    expect(passRole).toEqual([
      ['schedule-timeout', { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } }],
    ])
  })

  test("stays below IAM's limit of 10,240 characters", () => {
    for (const name of names) {
      // Leaves room for ARNs, which replace references.
      expect(JSON.stringify(statementsOf(name)).length, name).toBeLessThan(8_000)
    }
  })
})

test('functions query all indexes of the table and no others', () => {
  const queried = names.flatMap((name) =>
    codeStatements(name).flatMap(({ resource }) => /^index\/(.*)$/.exec(resource)?.[1] ?? []),
  )
  const indexes = tableDefinition.indexes.map(({ name }) => name)
  expect([...new Set(queried)].sort()).toEqual(indexes.sort())
})

test('the role of schedules may only send to their target queues', () => {
  const [role = ''] = Object.keys(roles).filter((id) => logicalName(id) === 'ScheduleRole')
  const statements = statementsOfRole(role).map(
    ({ Action, Resource }) => `${Action} ${resourceIn(Resource)}`,
  )
  const targets = jobNames.flatMap((name) => {
    const { from, every } = jobRow(name)
    return every && 'queues' in from ? from.queues.slice(0, 1) : []
  })
  expect(statements.sort()).toEqual(
    ['expiries', ...targets].map((queue) => `sqs:SendMessage queue/${queue}`).sort(),
  )
})
