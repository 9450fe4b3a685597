import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Context } from 'aws-lambda'
import type { FunctionRow } from '../../infra/definitions/functions.ts'
import { actingAs } from '../authorizer.ts'
import type { Load } from '../function-host.ts'

/** Runs bundles as Lambda does: a process per function, which starts at the first invocation. */

export const BUNDLE_PROCESS = join(import.meta.dirname, '../../infra/bundles/bundle-process.mjs')

const STOP_MS = 1_000

type ProcessOptions = {
  /** Returns the file of a bundle, by the name of its function. */
  bundleOf: (name: string) => string
  /** Returns all environment variables of a new process. */
  variablesOf: (row: FunctionRow) => Record<string, string>
}

export const newFunctionProcesses = ({ bundleOf, variablesOf }: ProcessOptions) => {
  const processes = new Map<string, FunctionProcess>()

  const start = (row: FunctionRow): FunctionProcess => {
    const functionProcess = startProcess(bundleOf(row.name), variablesOf(row), row)
    processes.set(row.name, functionProcess)
    functionProcess.child.once('exit', () => {
      if (processes.get(row.name) === functionProcess) processes.delete(row.name)
    })
    return functionProcess
  }
  const load: Load = async (row) => ({
    handler: (event, context) => (processes.get(row.name) ?? start(row)).invoke(event, context),
  })
  return {
    load,
    /** Stops all processes; a later invocation starts a new one. */
    stop: async (): Promise<void> => {
      const running = [...processes.values()]
      processes.clear()
      await Promise.all(running.map(({ stop }) => stop()))
    },
  }
}

type FunctionProcess = ReturnType<typeof startProcess>

type Invocation = { resolve: (value: unknown) => void; reject: (error: Error) => void }

type ProcessReply = {
  id?: string
  value?: unknown
  error?: { errorType: string; errorMessage: string }
}

const startProcess = (
  file: string,
  env: Record<string, string>,
  { name, timeoutSeconds }: FunctionRow,
) => {
  // In its own process group: Ctrl-C reaches only the sandbox, which then stops its functions.
  const child: ChildProcess = spawn(process.execPath, [BUNDLE_PROCESS, file], {
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const input = child.stdin as Writable
  const closed = once(child, 'close')
  // This process prints the lines, so that it can shorten them.
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[stream] as Readable }).on('line', (line) =>
      actingAs(name, () => process[stream].write(`${line}\n`)),
    )
  }
  const pending = new Map<string, Invocation>()
  // After a failed write, the handler of `close` rejects the invocation.
  input.on('error', () => undefined)
  createInterface({ input: child.stdio[3] as Readable }).on('line', (line) => {
    const { id = '', value, error }: ProcessReply = JSON.parse(line)
    const invocation = pending.get(id)
    pending.delete(id)
    if (error) invocation?.reject(newError(error.errorType, error.errorMessage))
    else invocation?.resolve(value)
  })
  child.once('close', (code, signal) => {
    for (const [id, { reject }] of pending) {
      const message = `Runtime exited with error: ${code === null ? signal : `exit status ${code}`}`
      reject(newError('Runtime.ExitError', `RequestId: ${id} Error: ${message}`))
    }
  })
  return {
    child,
    /** @throws the error of the handler, or Runtime.ExitError when the process ends */
    invoke: (event: unknown, context: Context): Promise<unknown> => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const id = context.awsRequestId
      pending.set(id, { resolve, reject })
      input.write(`${JSON.stringify({ id, event, context, timeoutSeconds })}\n`)
      return promise
    },
    stop: async (): Promise<void> => {
      // No caller waits any more, so the handler of `close` rejects nothing.
      pending.clear()
      input.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await closed
      clearTimeout(timer)
    },
  }
}

/** Returns an error without a stack, which would be that of this process. */
const newError = (name: string, message: string): Error =>
  Object.assign(new Error(message), { name, stack: undefined })
