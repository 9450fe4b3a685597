import { SendMessageCommand } from '@aws-sdk/client-sqs'
import type { DynamoDBRecord } from 'aws-lambda'
import { type Addresses, environmentOf } from '../infra/definitions/environment.ts'
import { functionRows } from '../infra/definitions/functions.ts'
import { jobNames, jobRow, recurring } from '../infra/definitions/jobs.ts'
import type { QueueName } from '../shared/queues/messages.ts'
import { type AuthorizationEvent, authorizationEvents } from './authorization-events.ts'
import {
  connectBackends,
  type LocalBackendOptions,
  NAME,
  REGION,
  startLocalBackends,
} from './backends.ts'
import { changeLines, faultLine, type Print, requestLine } from './console.ts'
import type { Endpoints } from './endpoints.ts'
import { type FunctionHost, loadFunctions } from './function-host.ts'
import { openGateway } from './gateway.ts'
import { pollQueue } from './queue-poller.ts'
import type { SandboxQueues } from './queues.ts'
import { startScheduler } from './scheduler.ts'
import { startSecretsManager } from './secrets-manager.ts'
import { seeds } from './seeds.ts'
import { pollStream } from './stream-poller.ts'

/** Runs the whole service on this machine, from the definitions that the stacks use. */

export type SandboxOptions = {
  port: number
  timeScale: number
  /** Whether a second operator must approve some calls. */
  approvals?: boolean
  print: Print
  /** Endpoints of a running emulator; without them, local backends are started. */
  endpoints?: Endpoints | undefined
} & LocalBackendOptions

export type Sandbox = {
  address: string
  functions: FunctionHost
  schedules: () => string[]
  stop: () => Promise<void>
}

const ACCOUNT = '000000000000'
const SEALING_KEY_ARN = `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:sealing-key`
/** Functions share one process here, so a cache would be shared as well. */
const CACHE_SECONDS = 0

export const startSandbox = async (options: SandboxOptions): Promise<Sandbox> => {
  // Stops in reverse order, so that pollers stop before their backends.
  const cleanup = new AsyncDisposableStack()
  try {
    return await start(options, cleanup)
  } catch (error) {
    await cleanup.disposeAsync()
    throw error
  }
}

const start = async (options: SandboxOptions, cleanup: AsyncDisposableStack): Promise<Sandbox> => {
  const { print } = options
  if (!options.dynamoDbEndpoint) useLocalCredentials()
  // Opened first, so that a taken port fails before any backend starts.
  const gateway = await openGateway(options.port)
  cleanup.defer(gateway.stop)
  const { table, streamArn, bucket, queues, endpoints } = await (options.endpoints
    ? connectBackends(options.endpoints, print, cleanup)
    : startLocalBackends(options, cleanup))
  const scheduler = await startScheduler(async (arn, body) => {
    const [, , , , account, name] = arn.split(':')
    const QueueUrl = `${endpoints.sqs}/${account}/${name}`
    await queues.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }))
  })
  cleanup.defer(scheduler.stop)
  const secrets = await startSecretsManager({ [SEALING_KEY_ARN]: 'sandbox' })
  cleanup.defer(secrets.stop)
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
  cleanup.defer(printDeniedCalls(print))
  const functions = printingFaults(await loadFunctions(), print)
  await seed(functions)
  // Set after the seeds, which need no approval.
  process.env.APPROVALS = String(options.approvals ?? false)
  startPollers({ functions, queues, dynamoDb: endpoints.dynamoDb, streamArn, print }, cleanup)
  for (const { name, queue, expression } of recurring) {
    scheduler.create(name, {
      ScheduleExpression: expression,
      Target: { Arn: queues.arn(queue), Input: '{}' },
    })
  }
  gateway.serve(functions, (reply) => print(requestLine(reply)))
  return {
    address: gateway.address,
    functions,
    schedules: scheduler.pending,
    stop: () => cleanup.disposeAsync(),
  }
}

/** The SDK's clients require credentials, which the backends ignore. */
const useLocalCredentials = (): void => {
  Object.assign(process.env, {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'sandbox',
    AWS_SECRET_ACCESS_KEY: 'sandbox',
  })
}

/** Sets the variables of all functions in one environment; their names do not collide. */
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

const printingFaults = (functions: FunctionHost, print: Print): FunctionHost => ({
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

/** Prints denied AWS calls, also those whose error a function handles. Returns the unsubscriber. */
const printDeniedCalls = (print: Print): (() => void) => {
  const listener = (message: unknown) => {
    const { name, required, allowedBy } = message as AuthorizationEvent
    if (!allowedBy) print(faultLine(name, `is not allowed ${required}`))
  }
  authorizationEvents.subscribe(listener)
  return () => {
    authorizationEvents.unsubscribe(listener)
  }
}

const seed = async (functions: FunctionHost): Promise<void> => {
  for (const group of seeds) {
    await Promise.all(
      group.map(async ({ noun, verb, options }) => {
        const reply = await functions.invoke(`manage-${noun}`, { verb, options })
        const { error } = reply as { error?: string }
        if (error) throw new Error(`Seed ${noun} ${verb}: ${error}`)
      }),
    )
  }
}

type PollerDeps = {
  functions: FunctionHost
  queues: SandboxQueues
  dynamoDb: string
  streamArn: string
  print: Print
}

/** Starts a poller for every event source of the stacks. */
const startPollers = (deps: PollerDeps, cleanup: AsyncDisposableStack): void => {
  const { functions, queues, dynamoDb, streamArn, print } = deps
  for (const name of jobNames) {
    const { from } = jobRow(name)
    const invoke = (event: unknown) => functions.invoke(name, event)
    if ('stream' in from) {
      const printChanges = (records: DynamoDBRecord[]) => {
        for (const line of records.flatMap(changeLines)) print(line)
      }
      cleanup.defer(
        pollStream(dynamoDb, {
          streamArn,
          entities: from.stream,
          batchSize: from.batchSize,
          invoke,
          onRecords: printChanges,
          onFault: (error) => print(faultLine(name, error)),
          onLost: (records) =>
            print(faultLine(name, `${records.length} records sent to the dead-letter queue`)),
        }),
      )
      continue
    }
    for (const queue of from.queues satisfies readonly QueueName[]) {
      cleanup.defer(
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
