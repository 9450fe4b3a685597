import { readFileSync } from 'node:fs'
import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, expect, test } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { checkDeploymentTarget } from '../../infra/stacks/deployment-target.ts'
import { propertiesOf, type TemplateNode, templatesOf } from '../support/templates.ts'

const lambda = mockClient(LambdaClient)
const dynamodb = mockClient(DynamoDBClient)
afterAll(() => {
  lambda.restore()
  dynamodb.restore()
})

const alarmsTo = { pages: 'https://pager.example.com/a', tickets: 'ops@example.com' }
const production = { ...stageNamed('production'), alarmsTo }

const place = { CDK_DEFAULT_ACCOUNT: '111111111111', CDK_DEFAULT_REGION: 'eu-west-1' }
const withQuota = (ConcurrentExecutions: number) =>
  lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions } })

test.each([
  ['222222222222', 'eu-west-1'],
  ['111111111111', 'af-south-1'],
])('the deployment rejects credentials of another place than %s, %s', async (account, region) => {
  const stage = { ...stageNamed('sandbox'), account, region }
  await expect(checkDeploymentTarget(stage, place)).rejects.toThrow(
    `Stage sandbox belongs to account ${account} in ${region}; the credentials are of 111111111111 in eu-west-1`,
  )
})

test('a stage without account and Region accepts any, and another stage its own', async () => {
  await checkDeploymentTarget(stageNamed('sandbox'), place)
  await checkDeploymentTarget({ ...stageNamed('sandbox'), account: '111111111111' }, place)
  expect(lambda.calls()).toEqual([])
})

const { all } = templatesOf(stageNamed('production'))

/** Returns the sum of a member over all resources of a type. */
const total = (type: string, member: (properties: TemplateNode) => number | undefined): number =>
  propertiesOf(all, `AWS::Lambda::${type}`).reduce(
    (sum: number, properties) => sum + (member(properties) ?? 0),
    0,
  )

const reserved = total('Function', ({ ReservedConcurrentExecutions: workers }) => workers)
/** The relay, which reads the stream, needs 40. */
const jobs =
  40 + total('EventSourceMapping', ({ ScalingConfig: scaling }) => scaling?.MaximumConcurrency)

test('the production stage fits the default quota, and is rejected below what its stacks need', async () => {
  const needed = reserved + jobs
  expect(needed).toBeLessThan(1_000)
  for (const quota of [10, needed - 1]) {
    withQuota(quota)
    await expect(checkDeploymentTarget(production, place)).rejects.toThrow(
      `needs ${needed} concurrent executions (${reserved} reserved, ${jobs} for jobs), but the quota of the account is ${quota}`,
    )
  }
  withQuota(needed)
  await checkDeploymentTarget(production, place)
})

test('the pages state what the production stage needs', () => {
  const read = (page: string): string => readFileSync(`docs/${page}.md`, 'utf8')
  expect(read('capacity')).toContain(`sum, ${jobs}, unreserved, and ${reserved} reserved`)
  expect(read('deployment')).toContain(`Production needs ${reserved + jobs} [concurrent`)
})

test('a stage that keeps data is rejected without addresses for its alarms', async () => {
  await expect(checkDeploymentTarget(stageNamed('production'), place)).rejects.toThrow(
    'Stage production keeps data and has no alarmsTo',
  )
})

const indexes = tableDefinition.indexes.map(({ name, partitionKey, sortKey, projected }) => ({
  IndexName: name,
  KeySchema: [
    { AttributeName: partitionKey, KeyType: 'HASH' as const },
    { AttributeName: sortKey, KeyType: 'RANGE' as const },
  ],
  Projection: projected.length > 0 ? { NonKeyAttributes: projected.toReversed() } : {},
}))

const table = { name: 'restored', streamLabel: '2026-11-28T10:00:00.000' }
const described = () => dynamodb.on(DescribeTableCommand, { TableName: table.name })

test('a table that no stack defines is refused if the Region has none, or one with another stream', async () => {
  const stage = { ...production, restoredTable: table }
  const expected = `uses the stream ${table.streamLabel} of the table restored, but eu-west-1 has`
  described().rejects(new ResourceNotFoundException({ message: 'Not found', $metadata: {} }))
  await expect(checkDeploymentTarget(stage, place)).rejects.toThrow(`${expected} no such table`)
  const LatestStreamLabel = '2026-11-21T10:00:00.000'
  described().resolves({ Table: { GlobalSecondaryIndexes: indexes, LatestStreamLabel } })
  const refusal = `${expected} the stream ${LatestStreamLabel}`
  await expect(checkDeploymentTarget(stage, place)).rejects.toThrow(refusal)
})

test.each([
  ['lacks', indexes.filter(({ IndexName }) => IndexName !== 'work')],
  [
    'has other keys of',
    indexes.map((index) => ({ ...index, KeySchema: index.KeySchema.slice(0, 1) })),
  ],
  ['has other attributes of', indexes.map((index) => ({ ...index, Projection: {} }))],
])('a table that no stack defines is refused if it %s an index', async (_, lacking) => {
  withQuota(2_000)
  const LatestStreamLabel = table.streamLabel
  for (const stage of [
    { ...production, restoredTable: table },
    { ...production, replicaOf: { region: 'af-south-1', table } },
  ]) {
    described().resolves({ Table: { GlobalSecondaryIndexes: lacking, LatestStreamLabel } })
    await expect(checkDeploymentTarget(stage, place)).rejects.toThrow(
      /uses the table restored, .* lacks the index [\w-]+ of /,
    )
    described().resolves({ Table: { GlobalSecondaryIndexes: indexes, LatestStreamLabel } })
    await checkDeploymentTarget(stage, place)
  }
})

test('no check is made without credentials', async () => {
  const pinned = { ...production, account: '222222222222' }
  await checkDeploymentTarget(pinned, {})
})
