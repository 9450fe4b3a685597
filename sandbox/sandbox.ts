import { SendMessageCommand } from '@aws-sdk/client-sqs'
import type { DynamoDBRecord } from 'aws-lambda'
import { type Addresses, environmentOf } from '../infra/definitions/environment.ts'
import { functionRows } from '../infra/definitions/functions.ts'
import { jobNames, jobRow, recurring } from '../infra/definitions/jobs.ts'
import type { QueueName } from '../shared/queues/messages.ts'
import { type AuthorizationEvent, authorizationEvents } from './authorization-events.ts'
import { connectBackends, NAME, REGION, startLocalBackends } from './backends.ts'
import { changeLines, faultLine, type Print, requestLine } from './console.ts'
import type { Endpoints } from './endpoints.ts'
import { type FunctionHost, loadFunctions } from './function-host.ts'
import { openGateway } from './gateway.ts'
import { pollQueue } from './queue-poller.ts'
import type { Queues } from './queues.ts'
import { startScheduler } from './scheduler.ts'
import { startSecretsManager } from './secrets-manager.ts'
import { seeds } from './seeds.ts'
import { pollStream } from './stream-poller.ts'

/**
 * The whole service on this machine: the functions, the table, the queues and their feeds from the
 * definitions that the stacks are built from, on parts that speak AWS's protocols.
 */

export type SandboxOptions = {
  port: number
  timeScale: number
  /** Whether a second operator must approve some calls. */
  approvals?: boolean
  print: Print
  /** A running DynamoDB, with the credentials of the environment; absent: starts DynamoDB Local. */
  dynamoDbEndpoint?: string
  tableName?: string
  /** What runs already and speaks for DynamoDB, SQS and S3; absent: such parts are started. */
  endpoints?: Endpoints | undefined
}

export type Sandbox = {
  address: string
  functions: FunctionHost
  schedules: () => string[]
  stop: () => Promise<void>
}

const ACCOUNT = '000000000000'
const SEALING_KEY_ARN = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:sealing-key`
/** A function of its own remembers; here they would remember for each other. */
const CACHE_SECONDS = 0

export const startSandbox = async (options: SandboxOptions): Promise<Sandbox> => {
  const stops: (() => Promise<unknown>)[] = []
  const stop = async () => {
    // Last started, first stopped: nothing is fed while its parts go.
    for (const stopPart of stops.splice(0).reverse()) await stopPart()
  }
  try {
    return await start(options, stops, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

const start = async (
  options: SandboxOptions,
  stops: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<Sandbox> => {
  const { print } = options
  if (!options.dynamoDbEndpoint) useLocalCredentials()
  // First, so that a taken port is told before anything else is started.
  const gateway = await openGateway(options.port)
  stops.push(gateway.stop)
  const { table, streamArn, bucket, queues, endpoints } = await (options.endpoints
    ? connectBackends(options.endpoints, print, stops)
    : startLocalBackends(options, stops))
  const scheduler = await startScheduler(async (arn, body) => {
    const [, , , , account, name] = arn.split(':')
    const QueueUrl = `${endpoints.sqs}/${account}/${name}`
    await queues.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }))
  })
  stops.push(scheduler.stop)
  const secrets = await startSecretsManager({ [SEALING_KEY_ARN]: 'sandbox' })
  stops.push(secrets.stop)
  setEnvironment(options, new URL(gateway.address).host, {
    tableName: table,
    queueUrl: queues.url,
    queueArn: queues.arn,
    scheduleGroup: NAME,
    scheduleRoleArn: `arn:aws:iam::${ACCOUNT}:role/scheduler`,
    sealingKeyArn: SEALING_KEY_ARN,
    reportsBucket: bucket,
    functionPrefix: '',
  })
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamoDb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SCHEDULER: scheduler.endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: gateway.address,
  })
  stops.push(tellRefusals(print))
  const functions = tellFaults(await loadFunctions(), print)
  await plant(functions)
  // Seeds need no approval.
  process.env.APPROVALS = String(options.approvals ?? false)
  feed({ functions, queues, dynamoDb: endpoints.dynamoDb, streamArn, print }, stops)
  for (const { name, queue, expression } of recurring) {
    scheduler.create(name, {
      ScheduleExpression: expression,
      Target: { Arn: queues.arn(queue), Input: '{}' },
    })
  }
  gateway.serve(functions, (answered) => print(requestLine(answered)))
  return { address: gateway.address, functions, schedules: scheduler.pending, stop }
}

/** The parts check no credentials, but the clients want some. */
const useLocalCredentials = (): void => {
  Object.assign(process.env, {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'sandbox',
    AWS_SECRET_ACCESS_KEY: 'sandbox',
  })
}

/** In one process, every function has the environment of all; the names do not collide. */
const setEnvironment = (options: SandboxOptions, host: string, addresses: Addresses): void => {
  const settings = {
    stage: 'sandbox',
    referencePrefix: 'DCS',
    hasSandboxBank: true,
    payoutsWaitForFunding: false,
    approvals: false,
    ownHosts: [host],
  }
  for (const row of functionRows)
    Object.assign(process.env, environmentOf(row, settings, addresses))
  Object.assign(process.env, {
    TIME_SCALE: String(options.timeScale),
    CACHE_SECONDS: String(CACHE_SECONDS),
    LOCAL_PEERS: 'true',
    APPROVALS: 'false',
    POWERTOOLS_METRICS_DISABLED: 'true',
    POWERTOOLS_LOG_LEVEL: process.env.POWERTOOLS_LOG_LEVEL ?? 'ERROR',
  })
}

const tellFaults = (functions: FunctionHost, print: Print): FunctionHost => ({
  ...functions,
  invoke: async (name, event) => {
    try {
      return await functions.invoke(name, event)
    } catch (error) {
      print(faultLine(name, error))
      throw error
    }
  },
})

/** Also those that a function bears, such as of a message that it could not send. */
const tellRefusals = (print: Print): (() => Promise<void>) => {
  const tell = (message: unknown) => {
    const { name, needed, allowedBy } = message as AuthorizationEvent
    if (!allowedBy) print(faultLine(name, `is not allowed ${needed}`))
  }
  authorizationEvents.subscribe(tell)
  return async () => {
    authorizationEvents.unsubscribe(tell)
  }
}

const plant = async (functions: FunctionHost): Promise<void> => {
  for (const together of seeds) {
    await Promise.all(
      together.map(async ({ noun, verb, options }) => {
        const reply = await functions.invoke(`manage-${noun}`, { verb, options })
        const { error } = reply as { error?: string }
        if (error) throw new Error(`Seed ${noun} ${verb}: ${error}`)
      }),
    )
  }
}

type Feeds = {
  functions: FunctionHost
  queues: Queues
  dynamoDb: string
  streamArn: string
  print: Print
}

/** Every event-source mapping of the stacks. */
const feed = (feeds: Feeds, stops: (() => Promise<unknown>)[]): void => {
  const { functions, queues, dynamoDb, streamArn, print } = feeds
  for (const name of jobNames) {
    const { from } = jobRow(name)
    const invoke = (event: unknown) => functions.invoke(name, event)
    if ('stream' in from) {
      const tell = (records: DynamoDBRecord[]) => {
        for (const line of records.flatMap(changeLines)) print(line)
      }
      stops.push(
        pollStream(dynamoDb, {
          streamArn,
          entities: from.stream,
          batchSize: from.batchSize,
          invoke,
          onArrived: tell,
          onFault: (error) => print(faultLine(name, error)),
          onLost: (records) =>
            print(faultLine(name, `${records.length} records sent to the dead-letter queue`)),
        }),
      )
      continue
    }
    for (const queue of from.queues satisfies readonly QueueName[]) {
      stops.push(
        pollQueue(queues.sqs, {
          queueUrl: queues.url(queue),
          queueArn: queues.arn(queue),
          batchSize: from.batchSize,
          concurrency: from.maxConcurrency,
          invoke,
          onFault: (error) => print(faultLine(queue, error)),
        }),
      )
    }
  }
}
