import { expect, test } from 'vitest'
import { completeStage } from '../../infra/definitions/complete-stage.ts'
import { lakeQueries } from '../../infra/definitions/lake-queries.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { propertiesOf, templatesOf } from '../support/templates.ts'

/** The nightly export of the table, and its queries (docs/restore.md#lake). */

const { all } = templatesOf(completeStage)

test('the lake exists only if the stage sets it, and keeps a full export until the next one', () => {
  const text = JSON.stringify(templatesOf(stageNamed('production')).all.toJSON())
  expect(text).not.toMatch(/Athena|Glue|StepFunctions|export-missing/)
  const short = { ...completeStage, lake: { keepDays: 34 } }
  expect(() => templatesOf(short)).toThrow('lake.keepDays must be at least 35')
})

test('the exports are encrypted with the key of the table, and expire', () => {
  const lake = propertiesOf(all, 'AWS::S3::Bucket').find(
    ({ LoggingConfiguration }) => LoggingConfiguration?.LogFilePrefix === 'lake/',
  )
  expect(lake?.LifecycleConfiguration.Rules).toContainEqual({
    ...{ ExpirationInDays: 70, Status: 'Enabled' },
    NoncurrentVersionExpiration: { NoncurrentDays: 1 },
  })
  const [encryption] = lake?.BucketEncryption.ServerSideEncryptionConfiguration ?? []
  expect(encryption?.ServerSideEncryptionByDefault.SSEAlgorithm).toBe('aws:kms')
})

test('every night at 04:30 a state machine exports the table, and a missing export rings', () => {
  const [schedule] = propertiesOf(all, 'AWS::Scheduler::Schedule').filter(
    ({ Name }) => Name === 'debit-collection-complete-export',
  )
  expect(schedule).toMatchObject({ ScheduleExpression: 'cron(30 4 * * ? *)', State: 'ENABLED' })
  const [machine] = propertiesOf(all, 'AWS::StepFunctions::StateMachine')
  expect(JSON.stringify(machine?.DefinitionString)).toMatch(/FULL_EXPORT.*INCREMENTAL_EXPORT/s)
  const name = machine?.StateMachineName
  const alarm = propertiesOf(all, 'AWS::CloudWatch::Alarm').find(({ AlarmName }) =>
    AlarmName.endsWith('-export-missing'),
  )
  expect(JSON.stringify(alarm?.Dimensions)).toContain(`:stateMachine:${name}`)
})

test('the workgroup of the stage has six saved queries', () => {
  const saved = propertiesOf(all, 'AWS::Athena::NamedQuery')
  expect(saved.map(({ Name, QueryString }) => [Name, QueryString])).toEqual(
    Object.entries(lakeQueries),
  )
  expect(saved).toHaveLength(6)
  expect(new Set(saved.map(({ WorkGroup }) => WorkGroup))).toEqual(
    new Set(['debit-collection-complete']),
  )
})
