import { formatPermission } from '../infra/definitions/iam-statements.ts'
import { parseJson } from '../shared/domain/json.ts'
import { type AuthorizationEvent, authorizationEvents } from './authorization-events.ts'
import { actor } from './authorizer.ts'
import type { FunctionHost } from './function-host.ts'
import { type LogRecord, loggedError, logLine } from './terminal.ts'

/** Prints the faults of functions. */

export type OnFault = (source: string, error: unknown) => void

/** An operator function logs a fault before it throws an Error with the same message. */
const isLogged = (name: string, error: unknown): boolean =>
  name.startsWith('manage-') && (error as Error).name === 'Error'

export const withFaultReports = (functions: FunctionHost, onFault: OnFault): FunctionHost => ({
  ...functions,
  invoke: async (name, event) => {
    try {
      return await functions.invoke(name, event)
    } catch (error) {
      if (!isLogged(name, error)) onFault(name, error)
      throw error
    }
  },
})

/** Reports denied AWS calls, also those whose error a function handles. Returns the unsubscriber. */
export const reportDeniedCalls = (onFault: OnFault): (() => void) => {
  const listener = (message: unknown) => {
    const { name, checks } = message as AuthorizationEvent
    for (const { required, allowedBy } of checks)
      if (!allowedBy) onFault(name, `is not allowed ${formatPermission(required)}`)
  }
  authorizationEvents.subscribe(listener)
  return () => {
    authorizationEvents.unsubscribe(listener)
  }
}

/**
 * Shortens the JSON lines that functions log from now on. They write to the streams of the process, as
 * on Lambda. Returns the function that prints other faults in the same form.
 */
export const shortenLogs = (isVerbose: boolean): OnFault => {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (part: unknown, ...rest: unknown[]) => boolean
    stream.write = (part: unknown, ...rest: unknown[]) => {
      const isLog = typeof part === 'string' && part.startsWith('{"level":')
      const record = isLog ? (parseJson(part) as LogRecord | undefined) : undefined
      if (!record) return write(part, ...rest)
      return write(`${logLine(actor() ?? '', record, { isVerbose, stream })}\n`, ...rest)
    }
  }
  return (source, error) => {
    const record = {
      level: 'ERROR',
      message: 'fault',
      error: error instanceof Error ? loggedError(error) : String(error),
    }
    const stream = process.stderr
    stream.write(`${logLine(source, record, { isVerbose, stream })}\n`)
  }
}
