import { formatPermission } from '../infra/definitions/iam-statements.ts'
import { type AuthorizationEvent, authorizationEvents } from './authorization-events.ts'
import type { FunctionHost } from './function-host.ts'
import { faultLine, type Print } from './terminal.ts'

/** Prints the faults of functions. */

export const printingFaults = (functions: FunctionHost, print: Print): FunctionHost => ({
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
export const printDeniedCalls = (print: Print): (() => void) => {
  const listener = (message: unknown) => {
    const { name, checks } = message as AuthorizationEvent
    for (const { required, allowedBy } of checks)
      if (!allowedBy) print(faultLine(name, `is not allowed ${formatPermission(required)}`))
  }
  authorizationEvents.subscribe(listener)
  return () => {
    authorizationEvents.unsubscribe(listener)
  }
}
