import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { consoleHandler } from '../console/server/handler.ts'
import { openLive } from '../console/server/live.ts'
import { type FunctionRow, functionRows } from '../infra/definitions/functions.ts'
import { recurring } from '../infra/definitions/jobs.ts'
import type { QueueName } from '../shared/queues/messages.ts'
import { queueUrlFrom, type Runtime, real } from '../shared/runtime.ts'
import { newAws } from './aws/aws.ts'
import { startRealClock } from './aws/clock.ts'
import type { Invoke } from './aws/event-sources.ts'
import { queueArn, queueUrl } from './aws/queues.ts'
import { restore } from './aws/restore.ts'
import { type Answer, answerCalls, perform } from './aws/sdk.ts'
import { openBundledFunctions } from './bundles/bundled-functions.ts'
import { consoleBackend, itemChange, loggedRequest } from './console-backend.ts'
import { newControl } from './control/control.ts'
import { controlRoutes } from './control/routes.ts'
import { openDataFolder } from './data-folder.ts'
import { connectEmulator } from './emulator/connect.ts'
import type { Endpoints } from './emulator/endpoints.ts'
import { endpointVariables, functionVariables, REGION, useLocalCredentials } from './environment.ts'
import { type OnFault, reportDeniedCalls, withFaultReports } from './faults.ts'
import {
  answerFunctionCalls,
  type FunctionHost,
  fitting,
  loadFunctions,
  loadWith,
} from './function-host.ts'
import type { Gateway } from './gateway.ts'
import { newMemory, type Scope, untilStopped } from './memory.ts'
import { seed } from './seeds.ts'
import { signedObject } from './signed-object.ts'
import { sweepPace } from './sweep-pace.ts'
import { changeLines, type Print, requestLine } from './terminal.ts'

/** Runs the whole service on this machine, from the definitions that the stacks use. */

export type SandboxOptions = {
  gateway: Gateway
  timeScale: number
  approvals?: boolean
  /** The folder that keeps the state; without it, the state ends with the sandbox. */
  data?: string | undefined
  /** Hosts of receivers and banks that may be private and without TLS, besides 127.0.0.1. */
  webhookHosts?: readonly string[]
  print: Print
  onFault: OnFault
  /** The services of a running emulator to use instead of those in memory. */
  endpoints?: Endpoints
  /** Returns the bundle of a function, to run in a process; without it, functions run in this one. */
  bundleOf?: ((name: string) => string) | undefined
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

const NAME = 'debit-collection'
const ACCOUNT = '000000000000'
const STOP_MS = 1_000
const HOUR_MS = 3_600_000

export const startSandbox = async (options: SandboxOptions) => {
  // Stops in reverse order, so that event sources stop before their services.
  const cleanup = new AsyncDisposableStack()
  try {
    return await start(options, cleanup)
  } catch (error) {
    await cleanup.disposeAsync()
    throw error
  }
}

const start = async (
  { gateway, endpoints = {}, print, onFault, bundleOf, ...options }: SandboxOptions,
  cleanup: AsyncDisposableStack,
) => {
  const bundled =
    bundleOf &&
    (await openBundledFunctions(
      {
        bundleOf,
        variablesOf: (row) => variablesOf(row),
        endpoints,
        answer: (command) => answer(command),
        readObject: (url) => readObject(url),
      },
      cleanup,
    ))
  cleanup.defer(gateway.stop)
  const isEmulated = Object.keys(endpoints).length > 0
  const name = isEmulated ? `${NAME}-${randomBytes(3).toString('hex')}` : NAME
  useLocalCredentials()
  const emulator = isEmulated
    ? await connectEmulator({ endpoints, region: REGION, name, print }, cleanup)
    : undefined
  const queues = emulator?.queues
  const arnOf = (queue: QueueName) => queues?.arn(queue) ?? queueArn(queue)
  const bucket = `${name}-reports`

  const journal = options.data === undefined ? undefined : openDataFolder(options.data)
  if (journal) cleanup.defer(journal.close)
  const clock = startRealClock()
  const live = openLive()
  const invokeIn =
    (scope: Scope): Invoke =>
    async (job, event) => {
      try {
        return { kind: 'done', value: await scope(() => functions.invoke(job, event)) }
      } catch {
        return { kind: 'failed' }
      }
    }
  const memory = newMemory(clock, (ownClock, scope) =>
    newAws({
      clock: ownClock,
      tableName: name,
      invoke: invokeIn(scope),
      ...(journal && { journal: untilStopped(journal, ownClock) }),
      fitting,
      onRecord: (record) => {
        changeLines(record).forEach(print)
        live.addChange(itemChange(record))
      },
      onLostRecords: ({ length }) => onFault('relay', `${length} records were lost`),
      onDeadLetter: ({ queue, body }) => onFault(queue, `dead letter ${body}`),
      ...sweepPace(clock),
      ...(queues && {
        deliver: (arn, MessageBody) => {
          const QueueUrl = queueUrlFrom(arn)
          const sent = queues.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }))
          // A lost message is tolerated, as on AWS: the sweep expires the debit.
          sent.catch((error) => onFault('scheduler', error))
        },
      }),
    }),
  )
  const answer: Answer = (command) => {
    const { name: call } = command.constructor
    const aws = memory.aws()
    const service = aws.serviceOf(call)
    if (!service) return answerFunctionCalls(functions)(command)
    return service in endpoints ? undefined : perform(() => aws.perform(call, command.input))
  }
  const readObject = (url: URL) => signedObject(url, memory.aws().bucket.objects)
  let approvals = false
  const variablesOf = (row: FunctionRow): Record<string, string> =>
    functionVariables(row, { ...options, approvals }, new URL(gateway.address).host, {
      tableName: name,
      queueUrl: (queue) => queues?.url(queue) ?? queueUrl(queue, bundled?.address),
      queueArn: arnOf,
      scheduleGroup: NAME,
      scheduleRoleArn: `arn:aws:iam::${ACCOUNT}:role/scheduler`,
      sealingKeyArn: `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:sealing-key`,
      reportsBucket: bucket,
      functionPrefix: '',
    })
  // The gateway serves the objects of the bucket in memory.
  const own = endpointVariables({ s3: gateway.address, ...endpoints })
  Object.assign(process.env, ...functionRows.map(variablesOf), own, { APPROVALS: 'false' })
  cleanup.defer(reportDeniedCalls(onFault))
  cleanup.defer(() => answerCalls(() => undefined))
  cleanup.defer(async () => {
    clock.stop()
    // A webhook receiver without a response must not delay the stop.
    const running = Promise.allSettled(memory.running())
    await Promise.race([running, pause(STOP_MS, undefined, { ref: false })])
  })

  const runtime: Runtime = { ...real, now: () => new Date(Date.now() + clock.ahead()) }
  const load = bundled?.load ?? loadWith(runtime)
  const functions = withFaultReports(await loadFunctions(functionRows, load), onFault)
  answerCalls(answer)
  const setApprovals = (next: boolean): void => {
    approvals = next
    process.env.APPROVALS = String(next)
  }
  /** Fills an empty table, and starts the recurring schedules. */
  const begin = async (): Promise<void> => {
    if (memory.aws().table.items().length === 0) {
      // The seeds need no approval.
      setApprovals(false)
      await seed(functions)
      // The next invocation starts a process with other variables. No job is in flight yet.
      if (options.approvals) await bundled?.stop()
    }
    setApprovals(options.approvals ?? false)
    for (const { name: Name, queue, expression } of recurring) {
      const Target = { Arn: arnOf(queue), Input: '{}' }
      memory.aws().scheduler.start({ Name, ScheduleExpression: expression, Target })
    }
  }
  const restored = restore(memory.aws(), journal?.read() ?? [])
  journal?.compact(restored)
  for (const entry of restored) if ('clock' in entry) clock.set(entry.clock)
  await begin()
  const expire = () => memory.aws().table.removeExpired(Date.now())
  expire()
  const expiring = setInterval(expire, HOUR_MS)
  cleanup.defer(() => clearInterval(expiring))
  emulator?.poll({
    invoke: invokeIn(memory.scope),
    takeRecord: (record) => memory.aws().takeRecord(record),
    onFault,
  })
  const scoped: FunctionHost = {
    ...functions,
    invoke: (...call) => memory.scope(() => functions.invoke(...call)),
  }
  const reset = async (): Promise<void> => {
    await bundled?.stop()
    clock.set({ ahead: 0 })
    await memory.replace(() => {
      journal?.compact([])
      return begin()
    })
    live.refresh()
  }
  const control = newControl({
    address: gateway.address,
    clock,
    running: memory.running,
    isMovable: !isEmulated && !bundled,
    functions: scoped,
    reset: isEmulated ? undefined : reset,
    onMoved: () => {
      journal?.write({ clock: clock.setting() })
      live.refresh()
    },
  })
  gateway.serve({
    functions: scoped,
    reports: { prefix: `/${bucket}/`, read: readObject },
    control: controlRoutes(control),
    console: consoleHandler(consoleBackend(scoped, control.clock, live)),
    onReply: (reply) => {
      print(requestLine(reply))
      live.addRequest(loggedRequest(reply))
    },
  })
  return {
    address: gateway.address,
    functions: scoped,
    control,
    schedules: () => memory.aws().scheduler.names(),
    stop: () => cleanup.disposeAsync(),
  }
}
