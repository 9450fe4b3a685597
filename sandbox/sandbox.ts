import { setTimeout as pause } from 'node:timers/promises'
import { consoleHandler } from '../console/server/handler.ts'
import { openLive } from '../console/server/live.ts'
import { type RealClock, startRealClock } from './aws/clock.ts'
import { consoleBackend, itemChange, loggedRequest } from './console-backend.ts'
import { newControl } from './control/control.ts'
import { controlRoutes } from './control/routes.ts'
import { openDataFolder } from './data-folder.ts'
import { REPORTS_BUCKET, useLocalCredentials } from './environment.ts'
import type { OnFault } from './faults.ts'
import type { FunctionHost } from './function-host.ts'
import type { Gateway } from './gateway.ts'
import { openMemory } from './in-memory-aws.ts'
import type { Memory } from './memory.ts'
import { openFunctions } from './sandbox-functions.ts'
import { openState } from './state.ts'
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
  /** Returns the bundle of a function, to run in a process; without it, functions run in this one. */
  bundleOf?: ((name: string) => string) | undefined
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

const STOP_MS = 1_000

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
  { gateway, timeScale, approvals = false, data, webhookHosts, ...options }: SandboxOptions,
  cleanup: AsyncDisposableStack,
) => {
  // Bundles stop after the gateway, which may wait for them.
  const bundles = cleanup.use(new AsyncDisposableStack())
  cleanup.defer(gateway.stop)
  useLocalCredentials()
  const { address } = gateway
  const { print, onFault, bundleOf } = options

  const journal = data === undefined ? undefined : openDataFolder(data)
  if (journal) cleanup.defer(journal.close)
  const clock = startRealClock()
  const live = openLive()
  const memory = openMemory({
    clock,
    journal,
    invoke: (job, event) => functions.invoke(job, event),
    onRecord: (record) => {
      changeLines(record).forEach(print)
      live.addChange(itemChange(record))
    },
    onFault,
  })
  const functions = await openFunctions(
    { address, clock, memory, timeScale, webhookHosts, bundleOf, onFault },
    { bundles, calls: cleanup },
  )
  cleanup.defer(() => stopInvocations(clock, memory))
  const reset = await openState({ clock, memory, journal, functions, approvals }, cleanup)

  const scoped: FunctionHost = {
    ...functions,
    invoke: (...call) => memory.scope(() => functions.invoke(...call)),
  }
  const control = newControl({
    address,
    clock,
    running: memory.running,
    isMovable: !bundleOf,
    functions: scoped,
    reset: async () => {
      await reset()
      live.refresh()
    },
    record: (setting) => journal?.write({ clock: setting }),
    onMoved: live.refresh,
  })
  gateway.serve({
    functions: scoped,
    reports: { prefix: `/${REPORTS_BUCKET}/`, read: functions.readObject },
    control: controlRoutes(control),
    aws: memory.aws,
    console: consoleHandler(consoleBackend(scoped, control.clock, live)),
    onReply: (reply) => {
      print(requestLine(reply))
      live.addRequest(loggedRequest(reply, control.clock.now()))
    },
  })
  return {
    address,
    functions: scoped,
    control,
    schedules: () => memory.aws().scheduler.names(),
    stop: () => cleanup.disposeAsync(),
  }
}

const stopInvocations = async (clock: RealClock, memory: Memory): Promise<void> => {
  clock.stop()
  // A webhook receiver without a response must not delay the stop.
  const running = Promise.allSettled(memory.running())
  await Promise.race([running, pause(STOP_MS, undefined, { ref: false })])
}
