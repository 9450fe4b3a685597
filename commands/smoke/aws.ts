import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation'
import { CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs'
import {
  type EventSourceMappingConfiguration,
  LambdaClient,
  paginateListEventSourceMappings,
  paginateListFunctions,
} from '@aws-sdk/client-lambda'
import { GetTopicAttributesCommand, SNSClient } from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { functionRows } from '../../infra/definitions/functions.ts'
import { jobNames } from '../../infra/definitions/jobs.ts'
import { resourceName } from '../../infra/definitions/resource-name.ts'
import { parseJson } from '../../shared/domain/json.ts'
import { eventually, Mismatch } from '../expect.ts'
import type { RunCheck } from './checks.ts'

/** Checks what only AWS shows: logs, queues and event sources of a stage. */

const SWEEP_SECONDS = 125
/** CloudWatch finds a log line only some seconds after the write. */
const LOG_SECONDS = 60
const POLL_MS = 5_000

/** The terms that CloudWatch searches for; FAULT then selects the lines that count. */
const FAULT_FILTER =
  '?ERROR ?AccessDenied ?AccessDeniedException ?"Task timed out" ?"Runtime exited" ?"platform.report"'
// A rejected report is an error of its bank. Lambda logs `platform.report` of failed invocations only.
const FAULT =
  /AccessDenied|"level":"ERROR",(?!"message":"bank report rejected)|Task timed out|Runtime exited|platform\.report/

const lambda = () => new LambdaClient()

/** Returns the log group of each function of the stage, by the function's short name. */
const listLogGroups = async (stage: string): Promise<Map<string, string>> => {
  const names = new Map(functionRows.map(({ name }) => [resourceName(name, stage), name]))
  const groups = new Map<string, string>()
  for await (const { Functions = [] } of paginateListFunctions({ client: lambda() }, {})) {
    for (const { FunctionName = '', LoggingConfig } of Functions) {
      const name = names.get(FunctionName)
      if (name) groups.set(name, LoggingConfig?.LogGroup ?? `/aws/lambda/${FunctionName}`)
    }
  }
  return groups
}

const listMappings = async (stage: string): Promise<EventSourceMappingConfiguration[]> => {
  const names = new Set(jobNames.map((name) => resourceName(name, stage)))
  const mappings: EventSourceMappingConfiguration[] = []
  for await (const page of paginateListEventSourceMappings({ client: lambda() }, {})) {
    mappings.push(
      ...(page.EventSourceMappings ?? []).filter(({ FunctionArn = '' }) =>
        names.has(FunctionArn.split(':')[6] ?? ''),
      ),
    )
  }
  return mappings
}

const isOfQueue = ({ EventSourceArn = '' }: EventSourceMappingConfiguration): boolean =>
  EventSourceArn.includes(':sqs:')

/** @throws Mismatch if no queue is read; a Region that waits reads the stream */
const expectUnpaused = (mappings: readonly EventSourceMappingConfiguration[]): void => {
  const ofQueues = mappings.filter(isOfQueue)
  if (ofQueues.length > 0 && ofQueues.every(({ State }) => State !== 'Enabled'))
    throw new Mismatch('Enabled', `${ofQueues[0]?.State} everywhere: the stage is paused`)
}

/** Stops a release, which would resume a stage that is paused for a restore, on its old table. */
export const checkUnpaused = (check: RunCheck, stage: string) =>
  check('unpaused', async () => expectUnpaused(await listMappings(stage)))

/** Runs first, because the API of a paused stage refuses every request. */
export const checkEventSources = (check: RunCheck, stage: string) =>
  check('event-sources', async () => {
    const mappings = await listMappings(stage)
    if (mappings.length === 0) throw new Mismatch('event sources', 'none')
    expectUnpaused(mappings)
    const others = mappings.filter(({ State }) => State !== 'Enabled')
    const names = others.map(({ FunctionArn, State }) => `${FunctionArn?.split(':')[6]} ${State}`)
    if (names.length > 0) throw new Mismatch('Enabled', names.join(', '))
  })

/** Returns the ARNs of the dead-letter queues, of messages and of stream records. */
const listFailureQueues = async (stage: string): Promise<string[]> => {
  const arns = await Promise.all(
    (await listMappings(stage)).map(async (mapping) => {
      const { EventSourceArn = '', DestinationConfig } = mapping
      if (!isOfQueue(mapping)) return DestinationConfig?.OnFailure?.Destination
      const { RedrivePolicy = '' } = await attributesOf(EventSourceArn)
      const policy = parseJson(RedrivePolicy) as { deadLetterTargetArn?: string } | undefined
      return policy?.deadLetterTargetArn
    }),
  )
  return [...new Set(arns.filter((arn) => arn !== undefined))]
}

const attributesOf = async (arn: string) => {
  const [, , , , QueueOwnerAWSAccountId, QueueName] = arn.split(':')
  // The host in a queue's URL need not resolve in an emulator.
  const client = new SQSClient({ useQueueUrlAsEndpoint: false })
  const { QueueUrl } = await client.send(
    new GetQueueUrlCommand({ QueueName, QueueOwnerAWSAccountId }),
  )
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
  )
  return Attributes
}

async function* linesIn(logGroupName: string, filterPattern: string, since: Date) {
  const request = { logGroupName, filterPattern, startTime: since.getTime() }
  const client = new CloudWatchLogsClient()
  for await (const { events = [] } of paginateFilterLogEvents({ client }, request))
    for (const { message = '' } of events) yield message
}

type StageRun = { stage: string; since: Date; signal: AbortSignal }

/** Waits for a line with the term in the log of a function. */
const expectLine = async (
  { stage, since, signal }: StageRun,
  { name, term, seconds }: { name: string; term: string; seconds: number },
) => {
  const group = (await listLogGroups(stage)).get(name) ?? ''
  const read = async () => {
    const { done } = await linesIn(group, term, since).next()
    if (done) throw new Mismatch(`${term} in ${group}`, 'no line')
  }
  await eventually(read, { seconds, signal, everyMs: POLL_MS })
}

/** A sweep must run within two minutes; other checks run in parallel. */
export const checkSweep = (check: RunCheck, run: StageRun) =>
  check('sweep', () =>
    expectLine(run, { name: 'sweep', term: 'SweepRuns', seconds: SWEEP_SECONDS }),
  )

const keepsData = async (client: CloudFormationClient, stage: string) => {
  const StackName = resourceName('data', stage)
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }))
  return Stacks[0]?.EnableTerminationProtection
}

/** Nobody is notified by an alarm whose subscription was not confirmed; AWS removes it after three days. */
export const checkSubscriptions = (check: RunCheck, stage: string) =>
  check('alarm-subscriptions', async () => {
    const StackName = resourceName('monitoring', stage)
    const client = new CloudFormationClient()
    const ids = { 'AWS::SNS::Topic': [] as string[], 'AWS::SNS::Subscription': [] as string[] }
    for await (const page of paginateListStackResources({ client }, { StackName }))
      for (const { ResourceType, PhysicalResourceId = '' } of page.StackResourceSummaries ?? [])
        ids[ResourceType as keyof typeof ids]?.push(PhysicalResourceId)
    const defined = ids['AWS::SNS::Subscription'].length
    if (defined === 0) {
      if (await keepsData(client, stage))
        throw new Mismatch('subscriptions of alarms', 'none: set alarmsTo of the stage')
      return
    }
    const sns = new SNSClient()
    let [confirmed, pending] = [0, 0]
    for (const TopicArn of ids['AWS::SNS::Topic']) {
      const { Attributes = {} } = await sns.send(new GetTopicAttributesCommand({ TopicArn }))
      confirmed += Number(Attributes.SubscriptionsConfirmed)
      pending += Number(Attributes.SubscriptionsPending)
    }
    if (pending > 0 || confirmed < defined) {
      const counts = `${confirmed} confirmed, ${pending} in PendingConfirmation`
      throw new Mismatch(`${defined} confirmed subscriptions of alarms`, counts)
    }
  })

/** Run last, because they cover the faults of all other checks. */
export const checkFaults = async (check: RunCheck, run: StageRun) => {
  await check('dead-letters', async () => {
    const queues = await listFailureQueues(run.stage)
    if (queues.length === 0) throw new Mismatch('dead-letter queues', 'none')
    const counts = await Promise.all(
      queues.map(async (arn) => {
        const attributes = await attributesOf(arn)
        const visible = Number(attributes.ApproximateNumberOfMessages)
        return { arn, count: visible + Number(attributes.ApproximateNumberOfMessagesNotVisible) }
      }),
    )
    const texts = counts.flatMap(({ arn, count }) =>
      count > 0 ? [`${count} in ${arn.split(':').at(-1)}`] : [],
    )
    if (texts.length > 0) throw new Mismatch('empty dead-letter queues', texts.join(', '))
  })
  await check('logs', async () => {
    // Waits for the line of the reconciliation, which ran last.
    const last = { name: 'manage-reconciliation', term: 'operator', seconds: LOG_SECONDS }
    await expectLine(run, last)
    for (const [name, group] of await listLogGroups(run.stage)) {
      for await (const line of linesIn(group, FAULT_FILTER, run.since)) {
        if (FAULT.test(line)) throw new Mismatch('no fault in a log', `${name}: ${line}`)
      }
    }
  })
}
