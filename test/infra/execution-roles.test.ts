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
import { templatesOf } from '../support/templates.ts'

/** The roles as CloudFormation is told of them, read without the code that wrote them. */

// The stage that has every function.
const stage = stageNamed('sandbox')
const { service } = templatesOf(stage)

// biome-ignore lint/suspicious/noExplicitAny: a template is looked into, member by member
type Found = Record<string, any>

const functions = Object.values(service.findResources('AWS::Lambda::Function')) as Found[]
const roles: Found = service.findResources('AWS::IAM::Role')
const policies = Object.values(service.findResources('AWS::IAM::Policy')) as Found[]

const roleOf = (name: string): string =>
  functions.find(({ Properties }) => Properties.FunctionName.endsWith(`-sandbox-${name}`))
    ?.Properties.Role['Fn::GetAtt'][0]

const statementsOf = (name: string): Found[] =>
  policies
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: Found) => Ref === roleOf(name)))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)

/** Logical ids are names without their dashes, and eight digits. */
const logicalName = (id: string): string => id.slice(0, -8)

const queueNames = new Map(
  Object.keys(messages).map((queue) => [queue.replaceAll('-', ''), `queue/${queue}`]),
)

const byOutput: [RegExp, string][] = [
  [/-data:ExportsOutputFnGetAttTable\w+StreamArn\w+"$/, 'stream'],
  [/-data:ExportsOutputFnGetAttTable\w+Arn\w+"$/, 'table'],
  [/-data:ExportsOutputRefSealingKey\w+"$/, 'sealing-key'],
  [/-data:ExportsOutputFnGetAttReports\w+Arn\w+"$/, 'reports'],
  [/-data:ExportsOutputFnGetAttKey\w+Arn\w+"$/, 'key'],
]

const namedResource = (name: string): string => {
  if (name.endsWith('lostrecords')) return 'lost-records'
  if (name.endsWith('log')) return 'log'
  if (name === 'ScheduleRole') return 'schedule-role'
  return queueNames.get(name) ?? name
}

/** A resource of a statement in the words of the rows, by nothing but the template. */
const resourceIn = (resource: Found): string => {
  const [owner, attribute] = resource['Fn::GetAtt'] ?? []
  if (attribute === 'Arn') return namedResource(logicalName(owner))
  if (resource['Fn::ImportValue']) {
    const text = JSON.stringify(resource['Fn::ImportValue'])
    return byOutput.find(([shape]) => shape.test(text))?.[1] ?? text
  }
  const parts: (string | Found)[] = resource['Fn::Join']?.[1] ?? []
  const end = String(parts.at(-1))
  if (end.startsWith('/index/')) return end.slice(1)
  const [, invoked] = /:function:debit-collection-sandbox-(.+)$/.exec(end) ?? []
  if (invoked) return `function/${invoked}`
  if (JSON.stringify(parts).includes('GetAttReports')) return `reports${end}`
  if (parts.some((part) => String(part).includes(':schedule/'))) return `schedules${end}`
  return JSON.stringify(resource)
}

const list = <T>(one: T | T[]): T[] => (Array.isArray(one) ? one : [one])

const permissionsOfTemplate = (name: string): string[] =>
  statementsOf(name).flatMap(({ Action, Resource, Condition, ...rest }) => {
    expect(rest, name).toEqual({ Effect: 'Allow' })
    const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys']
    return list<string>(Action).flatMap((action) =>
      list<Found>(Resource).flatMap((one) => {
        const resource = resourceIn(one)
        return keys
          ? list<string>(keys).map((key) => formatPermission({ action, resource, key }))
          : [formatPermission({ action, resource })]
      }),
    )
  })

const names = functionsOf(stage).map(({ name }) => name)

describe('the role of a function', () => {
  test.each(names)('%s holds what its row says, and nothing else', (name) => {
    const said = permissionsIn([...codeStatements(name), ...platformStatements(name)]).map(
      formatPermission,
    )
    expect(permissionsOfTemplate(name).sort()).toEqual(said.sort())
  })

  test('is its own, for Lambda alone, with no policy of others', () => {
    const owners = names.map(roleOf)
    expect(new Set(owners).size).toBe(names.length)
    for (const owner of owners) {
      const { AssumeRolePolicyDocument, ...others } = roles[owner].Properties
      expect(others).toEqual({})
      expect(AssumeRolePolicyDocument.Statement).toEqual([
        {
          Action: 'sts:AssumeRole',
          Effect: 'Allow',
          Principal: { Service: 'lambda.amazonaws.com' },
        },
      ])
    }
  })

  test('names each action, and leaves open of a resource only what has a reason', () => {
    const reasons = Object.keys(wildcardReasons)
    for (const { Action, Resource } of names.flatMap(statementsOf)) {
      expect(JSON.stringify(Action)).not.toContain('*')
      for (const one of list<Found>(Resource)) {
        if (JSON.stringify(one).includes('*')) expect(reasons).toContain(resourceIn(one))
      }
    }
  })

  test('reaches items by their keys alone', () => {
    for (const { Resource, Condition } of names.flatMap(statementsOf)) {
      const isOfItems = /^(?:table$|index\/)/.test(resourceIn(Resource))
      const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []
      expect(list<string>(keys).length > 0).toBe(isOfItems)
      expect(keys).not.toContain('*')
    }
  })

  test('reaches the key only through the services that keep things under it', () => {
    for (const { Resource, Condition } of names.flatMap(statementsOf)) {
      const via: unknown[] = list(Condition?.StringEquals?.['kms:ViaService'] ?? [])
      expect(via.length > 0).toBe(resourceIn(Resource) === 'key')
    }
  })

  test('is passed on to Scheduler alone, where schedules are set', () => {
    const passing = names.flatMap((name) =>
      statementsOf(name)
        .filter(({ Action }) => Action === 'iam:PassRole')
        .map(({ Condition }) => [name, Condition]),
    )
    expect(passing).toEqual([
      ['schedule-timeout', { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } }],
    ])
  })

  test('is within what IAM takes: 10,240 characters', () => {
    for (const name of names) {
      // With room for ARNs in place of references.
      expect(JSON.stringify(statementsOf(name)).length, name).toBeLessThan(8_000)
    }
  })
})

test('indexes that are asked for are indexes that there are', () => {
  const asked = names.flatMap((name) =>
    codeStatements(name).flatMap(({ resource }) => /^index\/(.*)$/.exec(resource)?.[1] ?? []),
  )
  expect([...new Set(asked)].sort()).toEqual(tableDefinition.indexes.map(({ name }) => name).sort())
})

test('the schedules may fill the queues that they are for, and do nothing else', () => {
  const [role = ''] = Object.keys(roles).filter((id) => logicalName(id) === 'ScheduleRole')
  const filled = policies
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: Found) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .map(({ Action, Resource }: Found) => `${Action} ${resourceIn(Resource)}`)
  const recurring = jobNames.flatMap((name) => {
    const { from, every } = jobRow(name)
    return every && 'queues' in from ? from.queues.slice(0, 1) : []
  })
  expect(filled.sort()).toEqual(
    ['expiries', ...recurring].map((queue) => `sqs:SendMessage queue/${queue}`).sort(),
  )
})
