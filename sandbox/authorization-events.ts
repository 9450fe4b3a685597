import { channel } from 'node:diagnostics_channel'
import type { FunctionName } from '../infra/definitions/function-permissions.ts'

/** Diagnostics event for one permission check of a function's AWS call. */
export type AuthorizationEvent = {
  name: FunctionName
  required: string
  /** Permission of the role that allows the call; undefined when the call is denied. */
  allowedBy: string | undefined
}

export const authorizationEvents = channel('debit-collection.authorizations')
