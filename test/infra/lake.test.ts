import { DatabaseSync } from 'node:sqlite'
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

type Json = { [name: string]: Json } | undefined

/** Returns a member by its JSON path. */
const at = (text: string | null, path: string): Json =>
  text === null
    ? undefined
    : path.match(/\w+/g)?.reduce((value: Json, name) => value?.[name], JSON.parse(text) as Json)

/** SQLite with the functions of Athena that the queries of items and debits use. */
const lakeOf = (files: Record<string, object[]>): DatabaseSync => {
  const db = new DatabaseSync(':memory:')
  const define = (name: string, run: (...values: never[]) => unknown) =>
    db.function(name, run as never)
  define('json_extract', (text: string, path: string) => {
    const value = at(text, path)
    return value === undefined ? null : JSON.stringify(value)
  })
  define('json_extract_scalar', (text: string, path: string) => at(text, path) ?? null)
  define(
    'regexp_extract',
    (text: string, pattern: string, group: number) =>
      new RegExp(pattern).exec(text)?.[group] ?? null,
  )
  define('from_iso8601_timestamp', (text: string) => text)
  define('to_unixtime', (text: string) => Date.parse(text) / 1_000)
  define('from_unixtime', (seconds: number) => new Date(seconds * 1_000).toISOString())
  db.exec('CREATE TABLE exported (line TEXT, "$path" TEXT)')
  const insert = db.prepare('INSERT INTO exported VALUES (?, ?)')
  for (const [path, lines] of Object.entries(files))
    for (const line of lines) insert.run(JSON.stringify(line), `s3://lake/AWSDynamoDB/${path}`)
  return db
}

const itemOf = (reference: string, status: string) => ({
  ...{ pk: { S: `DEBIT#${reference}` }, sk: { S: 'DEBIT' }, entity: { S: 'debit' } },
  ...{ reference: { S: reference }, status: { S: status } },
  history: { L: { 0: { M: { at: { N: '1795000000000' } } } } },
})
const imageAt = (time: string, item: ReturnType<typeof itemOf>) => ({
  Metadata: { WriteTimestampMicros: { N: `${Date.parse(time)}000` } },
  ...{ Keys: { pk: item.pk, sk: item.sk }, NewImage: item },
})
const fullAt = (id: string, exportTime: string, items: object[]) => ({
  [`${id}/manifest-summary.json`]: [{ exportType: 'FULL_EXPORT', exportTime }],
  [`${id}/data/a.json.gz`]: items.map((Item) => ({ Item })),
})
const changes = (lines: object[]) => ({
  'changes/manifest-summary.json': [
    { exportType: 'INCREMENTAL_EXPORT', exportTime: '2026-12-09T04:00:00.000Z' },
  ],
  'data/b.json.gz': lines,
})
const OLD_FULL = fullAt('0179-old', '2026-11-01T04:00:00.000Z', [itemOf('A', 'pending')])

test.each([
  [
    'of a change on the last day of a month, which only the full export of the first has',
    {
      ...changes([imageAt('2026-11-30T03:50:00Z', itemOf('A', 'processing'))]),
      ...fullAt('0179-new', '2026-12-01T04:00:00.000Z', [itemOf('A', 'completed')]),
    },
    ['A completed'],
  ],
  [
    'of a change since the newest full export',
    {
      ...changes([
        imageAt('2026-12-01T04:00:01Z', itemOf('A', 'completed')),
        imageAt('2026-12-01T04:00:02Z', itemOf('B', 'pending')),
      ]),
      ...fullAt('0179-new', '2026-12-01T04:00:00.000Z', [itemOf('A', 'processing')]),
    },
    ['A completed', 'B pending'],
  ],
  [
    'of the table after a restore, which has undone changes',
    {
      ...changes([
        imageAt('2026-12-05T10:00:00Z', itemOf('A', 'completed')),
        imageAt('2026-12-05T10:00:00Z', itemOf('B', 'completed')),
      ]),
      ...fullAt('0179-new', '2026-12-06T04:00:00.000Z', [itemOf('A', 'processing')]),
    },
    ['A processing'],
  ],
])('the queries have the state %s', (_, files, expected) => {
  const query = lakeQueries.debits.replace(
    /CAST\([^()]+\([^()]*\) AS array\(json\)\) history/,
    '1 history',
  )
  const rows = lakeOf({ ...OLD_FULL, ...files })
    .prepare(query)
    .all()
  expect(rows.map(({ reference, status }) => `${reference} ${status}`).sort()).toEqual(expected)
})
