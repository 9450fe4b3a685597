import { setTimeout as pause } from 'node:timers/promises'
import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch'
import {
  CloudWatchLogsClient,
  DescribeLogGroupsCommand,
  GetQueryResultsCommand,
  QueryStatus,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs'
import {
  OUTCOME_MINUTES,
  type OutcomeCount,
  type RingingAlarm,
  type StageWatch,
} from '../console/server/backend.ts'
import { resourceName } from '../infra/definitions/resource-name.ts'
import { type SavedQuery, savedQueries } from '../infra/definitions/saved-queries.ts'
import { iso } from '../shared/domain/time.ts'
import { InvocationFailure, invocationFailure } from './functions-client.ts'

/** Reads the alarms and the logs of a stage with the AWS credentials of the shell. */

const POLL_MS = 500
const RUNNING: string[] = [QueryStatus.Scheduled, QueryStatus.Running]

const ringing = async (stage: string): Promise<RingingAlarm[]> => {
  const prefix = resourceName('', stage)
  const request = {
    AlarmNamePrefix: prefix,
    AlarmTypes: ['MetricAlarm' as const, 'CompositeAlarm' as const],
    StateValue: 'ALARM' as const,
  }
  const alarms: RingingAlarm[] = []
  for await (const page of paginateDescribeAlarms({ client: new CloudWatchClient() }, request)) {
    for (const alarm of [...(page.MetricAlarms ?? []), ...(page.CompositeAlarms ?? [])]) {
      alarms.push({
        name: alarm.AlarmName?.slice(prefix.length) ?? '',
        since: iso(alarm.StateUpdatedTimestamp ?? new Date(0)),
        description: alarm.AlarmDescription ?? '',
      })
    }
  }
  return alarms.sort((a, b) => a.since.localeCompare(b.since))
}

/** @throws InvocationFailure with one line */
const explained = async <T>(stage: string, permission: string, call: () => Promise<T>) => {
  try {
    return await call()
  } catch (error) {
    const { name } = error as Error
    if (name.startsWith('AccessDenied'))
      throw new InvocationFailure(`These AWS credentials do not allow ${permission}`)
    throw invocationFailure(error as Error, { stage }, 'CloudWatch')
  }
}

type Logs = { stage: string; client: CloudWatchLogsClient; logGroupNames: string[] }

const relayLogs = async (stage: string): Promise<Logs> => {
  const client = new CloudWatchLogsClient()
  const command = new DescribeLogGroupsCommand({
    logGroupNamePrefix: resourceName('jobs-relay', stage),
  })
  const { logGroups = [] } = await explained(stage, 'logs:DescribeLogGroups', () =>
    client.send(command),
  )
  const logGroupNames = logGroups.map(({ logGroupName = '' }) => logGroupName)
  return { stage, client, logGroupNames }
}

/** Runs a saved query on the last minutes of logs. */
const queried = async ({ stage, client, logGroupNames }: Logs, query: SavedQuery) => {
  const endTime = Math.ceil(Date.now() / 1000)
  const start = new StartQueryCommand({
    logGroupNames,
    queryString: savedQueries[query].join('\n| '),
    ...{ startTime: endTime - OUTCOME_MINUTES * 60, endTime },
  })
  const { queryId } = await explained(stage, 'logs:StartQuery', () => client.send(start))
  const read = new GetQueryResultsCommand({ queryId })
  for (;;) {
    const { status = '', results = [] } = await explained(stage, 'logs:GetQueryResults', () =>
      client.send(read),
    )
    if (!RUNNING.includes(status)) {
      if (status !== QueryStatus.Complete) throw new Error(`The query ${query} is ${status}`)
      return results.map(
        (row): Record<string, string> =>
          Object.fromEntries(row.map(({ field = '', value = '' }) => [field, value])),
      )
    }
    await pause(POLL_MS)
  }
}

/** A time of a result is a number of milliseconds, or UTC text without an offset. */
const timeOf = (text = ''): string =>
  iso(new Date(/^\d+$/.test(text) ? Number(text) : `${text.replace(' ', 'T')}Z`))

const countsBy = async (logs: Logs, object: 'bank' | 'provider'): Promise<OutcomeCount[]> =>
  (await queried(logs, `outcomes-by-${object}`)).map((row) => ({
    name: row[object] ?? '',
    code: row.code ?? null,
    debits: Number(row.debits),
    p95: Number(row.p95),
    newest: { reference: row.newest ?? '', at: timeOf(row.at) },
  }))

export const watchOf = (stage: string): StageWatch => ({
  alarms: () => explained(stage, 'cloudwatch:DescribeAlarms', () => ringing(stage)),
  outcomes: async () => {
    const logs = await relayLogs(stage)
    const [bank, provider] = await Promise.all([countsBy(logs, 'bank'), countsBy(logs, 'provider')])
    return { bank, provider }
  },
})
