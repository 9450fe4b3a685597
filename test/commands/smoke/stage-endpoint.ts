import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { functionRows } from '../../../infra/definitions/functions.ts'
import { close, listen } from '../../../sandbox/local-server.ts'
import { awsAt } from '../../support/commands.ts'

/** An endpoint of AWS with one stage, whose functions are those of a sandbox. */

const STAGE = 'sandbox'
const PREFIX = `debit-collection-${STAGE}-`
const ACCOUNT = 'eu-west-1:000000000000'

/** Properties of the stage that a test changes. */
export type StageState = {
  eventSources: 'Enabled' | 'Disabled' | 'waiting' | 'none'
  deadLetters: number
  /** Unconfirmed subscriptions of the two topics' addresses. */
  pending: number
  /** Whether the stage has no subscription, and keeps its data. */
  unsubscribed?: { keepsData: boolean }
  /** Functions that the caller may not use. */
  denied?: readonly string[]
  /** The functions reply after it. */
  replies?: Promise<void>
  /** Lines of every log group in addition to the usual ones. */
  lines: readonly string[]
}

export const healthy: StageState = {
  eventSources: 'Enabled',
  deadLetters: 0,
  pending: 0,
  lines: [],
}

const queueArn = (name: string) => `arn:aws:sqs:${ACCOUNT}:${name}`

const mappingsIn = ({ eventSources }: StageState) => [
  {
    FunctionArn: `arn:aws:lambda:${ACCOUNT}:function:${PREFIX}sweep`,
    EventSourceArn: queueArn('sweeps'),
    State: eventSources === 'waiting' ? 'Disabled' : eventSources,
  },
  {
    FunctionArn: `arn:aws:lambda:${ACCOUNT}:function:${PREFIX}relay`,
    EventSourceArn: `arn:aws:dynamodb:${ACCOUNT}:table/debits/stream/1`,
    DestinationConfig: { OnFailure: { Destination: queueArn('relay-lost-records') } },
    State: eventSources === 'waiting' ? 'Enabled' : eventSources,
  },
]

const stacksAs = ({ unsubscribed }: StageState, address: string): string =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks>${[
    [`${PREFIX}eu-api`, 'ApiAddress', 'http://127.0.0.1:1/'],
    [`${PREFIX}api`, 'ApiAddress', `${address}/`],
    [`${PREFIX}api`, 'Version', '0.1.0'],
  ]
    .map(
      ([stack, key, value]) =>
        `<member><StackName>${stack}</StackName><EnableTerminationProtection>${unsubscribed?.keepsData ?? false}</EnableTerminationProtection><Outputs><member><OutputKey>${key}</OutputKey>` +
        `<OutputValue>${value}</OutputValue></member></Outputs></member>`,
    )
    .join('')}</Stacks></DescribeStacksResult></DescribeStacksResponse>`

const members = (elements: readonly Record<string, string>[], tag: string): string =>
  elements
    .map((element) => Object.entries(element).map(([name, value]) => `<${name}>${value}</${name}>`))
    .map((parts) => `<${tag}>${parts.join('')}</${tag}>`)
    .join('')

/** Replies of the services that use queries, by the action. */
const queryReplies = (state: StageState, address: string): Record<string, () => string> => ({
  DescribeStacks: () => stacksAs(state, address),
  ListStackResources: () => {
    const types = ['AWS::SNS::Topic', 'AWS::CloudWatch::Alarm']
    if (!state.unsubscribed) types.push('AWS::SNS::Subscription')
    const resources = types.map((ResourceType) => ({
      ...{ ResourceType, PhysicalResourceId: `arn of ${ResourceType}` },
    }))
    const list = members(resources, 'member')
    return `<Response><ListStackResourcesResult><StackResourceSummaries>${list}</StackResourceSummaries></ListStackResourcesResult></Response>`
  },
  GetTopicAttributes: () => {
    const counts = {
      SubscriptionsConfirmed: 1 - state.pending,
      SubscriptionsPending: state.pending,
    }
    const entries = Object.entries(counts).map(([key, value]) => ({ key, value: String(value) }))
    return `<Response><GetTopicAttributesResult><Attributes>${members(entries, 'entry')}</Attributes></GetTopicAttributesResult></Response>`
  },
})

const userArn = 'arn:aws:iam::000000000000:user/ama'

type JsonCall = Record<string, string>

/** Replies of the services that use JSON, by the target in the header. */
const jsonReplies = (state: StageState): Record<string, (call: JsonCall) => unknown> => ({
  'AmazonSQS.GetQueueUrl': ({ QueueName }) => ({ QueueUrl: `http://queues/${QueueName}` }),
  'AmazonSQS.GetQueueAttributes': ({ QueueUrl = '' }) => ({
    Attributes: QueueUrl.endsWith('/sweeps')
      ? { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queueArn('sweeps-dead-letters') }) }
      : {
          // An operator lists some of them.
          ApproximateNumberOfMessages: String(Math.ceil(state.deadLetters / 2)),
          ApproximateNumberOfMessagesNotVisible: String(Math.floor(state.deadLetters / 2)),
        },
  }),
  'Logs_20140328.FilterLogEvents': ({ filterPattern = '' }) => ({
    events: [{ message: '{"SweepRuns":1}' }, { message: '{"message":"operator"}' }]
      .filter(({ message }) => message.includes(filterPattern))
      .concat(state.lines.map((message) => ({ message }))),
  }),
  'Logs_20140328.DescribeLogGroups': () => ({ logGroups: [{ logGroupName: 'logs-of-relay' }] }),
  'Logs_20140328.StartQuery': ({ queryString = '' }) => ({ queryId: queryString }),
  'Logs_20140328.GetQueryResults': ({ queryId = '' }) => ({
    status: 'Complete',
    results: ['', 'invalid_account'].map((code) =>
      Object.entries({
        ...{ bank: 'GCB', provider: 'demo', debits: '2', p95: '12.5' },
        ...(code && { code }),
        ...{ newest: 'DCS-20261122-ABC123', at: String(Date.now()) },
      }).flatMap(([field, value]) => (queryId.includes(field) ? [{ field, value }] : [])),
    ),
  }),
  'GraniteServiceVersion20100801.DescribeAlarms': () => ({
    MetricAlarms: [
      {
        AlarmName: `${PREFIX}bank-down`,
        AlarmDescription: 'The bank gives no reply: call the bank',
        StateUpdatedTimestamp: Date.now() / 1000,
      },
    ],
  }),
})

const URL_CONFIG = /^\/2021-10-31\/functions\/debit-collection-sandbox-([a-z-]+)\/url/
const FUNCTION_URL = /^\/url\/([a-z-]+)$/

/** Starts the endpoint. Its webhooks go to a closed port instead of a public host. */
export const startStageEndpoint = async (address: string, state: StageState) => {
  const reply = async (request: IncomingMessage, body: string): Promise<Response> => {
    const { url = '', headers } = request
    const configured = URL_CONFIG.exec(url)?.[1]
    if (configured)
      return Response.json({ FunctionUrl: `http://${headers.host}/url/${configured}` })
    const called = FUNCTION_URL.exec(url)?.[1]
    if (called) await state.replies
    if (called && state.denied?.includes(called)) {
      return Response.json({ Message: 'Forbidden' }, { status: 403 })
    }
    if (called) {
      const event = {
        requestContext: { http: { method: request.method }, authorizer: { iam: { userArn } } },
        body: body.replace(/https:\/\/example\.com[^"]*/, 'http://127.0.0.1:1/'),
      }
      return fetch(`${address}/2015-03-31/functions/${called}/invocations`, {
        method: 'POST',
        body: JSON.stringify(event),
      })
    }
    if (url.startsWith('/2015-03-31/functions')) {
      const Functions = functionRows.map(({ name }) => ({
        FunctionName: `${PREFIX}${name}`,
        LoggingConfig: { LogGroup: `logs-of-${name}` },
      }))
      return Response.json({ Functions })
    }
    if (url.startsWith('/2015-03-31/event-source-mappings')) {
      return Response.json({
        EventSourceMappings: state.eventSources === 'none' ? [] : mappingsIn(state),
      })
    }
    const answer = jsonReplies(state)[String(headers['x-amz-target'])]
    return answer
      ? Response.json(answer(JSON.parse(body)))
      : new Response(
          queryReplies(state, address)[new URLSearchParams(body).get('Action') ?? '']?.(),
          { headers: { 'content-type': 'text/xml' } },
        )
  }

  const server = createServer(async (request, response) => {
    const { status, headers, body } = await reply(request, await text(request))
    response.writeHead(status, Object.fromEntries(headers))
    for await (const part of body ?? []) response.write(part)
    response.end()
  })
  return { env: awsAt(await listen(server)), stop: () => close(server) }
}
