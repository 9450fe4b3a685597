import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch'
import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import { watchOf } from '../../commands/stage-watch.ts'

/** What the console reads of a stage's alarms and logs. */

const alarms = mockClient(CloudWatchClient)
const logs = mockClient(CloudWatchLogsClient)
const watch = watchOf('production')

beforeEach(() => {
  alarms.reset()
  logs.reset()
  logs.on(DescribeLogGroupsCommand).resolves({ logGroups: [{ logGroupName: 'relay-log' }] })
  logs.on(StartQueryCommand).resolves({ queryId: 'q-1' })
})

const alarm = (name: string, minute: number) => ({
  AlarmName: `debit-collection-production-${name}`,
  AlarmDescription: `Event of ${name}: action`,
  StateUpdatedTimestamp: new Date(`2026-11-22T12:0${minute}:00.000Z`),
})

test('the alarms that ring are those of all pages and both types, the oldest first', async () => {
  alarms
    .on(DescribeAlarmsCommand)
    .resolvesOnce({ MetricAlarms: [alarm('bank-down', 2)], NextToken: 'next' })
    .resolves({ CompositeAlarms: [alarm('availability-burn-fast', 1)] })
  expect(await watch.alarms()).toEqual([
    {
      name: 'availability-burn-fast',
      since: '2026-11-22T12:01:00.000Z',
      description: 'Event of availability-burn-fast: action',
    },
    {
      name: 'bank-down',
      since: '2026-11-22T12:02:00.000Z',
      description: 'Event of bank-down: action',
    },
  ])
  expect(alarms.commandCalls(DescribeAlarmsCommand)[0]?.args[0].input).toMatchObject({
    AlarmNamePrefix: 'debit-collection-production-',
    AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
    StateValue: 'ALARM',
  })
})

const row = (fields: Record<string, string>) =>
  Object.entries(fields).map(([field, value]) => ({ field, value }))

test('the outcomes are those of the saved queries on the last quarter of an hour', async () => {
  const newest = { newest: 'DCS-20261122-ABC123', p95: '7.5' }
  logs
    .on(GetQueryResultsCommand)
    .resolvesOnce({ status: 'Scheduled' })
    .resolvesOnce({ status: 'Running' })
    .resolves({
      status: 'Complete',
      results: [
        row({ bank: 'GCB', provider: 'demo', debits: '3', at: '1795348800000', ...newest }),
        row({
          bank: 'GCB',
          provider: 'demo',
          code: 'timeout',
          debits: '1',
          at: '2026-11-22 12:00:00.000',
          ...newest,
        }),
      ],
    })
  const count = { p95: 7.5, newest: { reference: newest.newest, at: '2026-11-22T12:00:00.000Z' } }
  const counts = (name: string) => [
    { name, code: null, debits: 3, ...count },
    { name, code: 'timeout', debits: 1, ...count },
  ]
  expect(await watch.outcomes()).toEqual({ bank: counts('GCB'), provider: counts('demo') })
  const queries = logs.commandCalls(StartQueryCommand).map(({ args }) => args[0].input)
  expect(queries.map(({ queryString }) => queryString?.split(' by ')[1])).toEqual([
    'bank, code',
    'provider, code',
  ])
  for (const { startTime = 0, endTime = 0, logGroupNames } of queries) {
    expect([endTime - startTime, logGroupNames]).toEqual([900, ['relay-log']])
  }
})

const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' })

test.each<[string, () => void, () => Promise<unknown>, string]>([
  [
    'alarms are denied',
    () => alarms.on(DescribeAlarmsCommand).rejects(denied),
    watch.alarms,
    'These AWS credentials do not allow cloudwatch:DescribeAlarms',
  ],
  [
    'the names of logs are denied',
    () => logs.on(DescribeLogGroupsCommand).rejects(denied),
    watch.outcomes,
    'These AWS credentials do not allow logs:DescribeLogGroups',
  ],
  [
    'queries of logs are denied',
    () => logs.on(StartQueryCommand).rejects(denied),
    watch.outcomes,
    'These AWS credentials do not allow logs:StartQuery',
  ],
  [
    'results of queries are denied',
    () => logs.on(GetQueryResultsCommand).rejects(denied),
    watch.outcomes,
    'These AWS credentials do not allow logs:GetQueryResults',
  ],
  [
    'credentials have expired',
    () =>
      alarms
        .on(DescribeAlarmsCommand)
        .rejects(Object.assign(new Error('old'), { name: 'ExpiredTokenException' })),
    watch.alarms,
    'The AWS credentials have expired',
  ],
  [
    'a query fails',
    () => logs.on(GetQueryResultsCommand).resolves({ status: 'Failed' }),
    watch.outcomes,
    'The query outcomes-by-bank is Failed',
  ],
])('the console gets the reason when %s', async (_, prepare, call, reason) => {
  prepare()
  await expect(call()).rejects.toThrow(reason)
})
