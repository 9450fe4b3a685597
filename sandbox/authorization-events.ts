import { channel } from 'node:diagnostics_channel'
import type { FunctionName } from '../infra/definitions/function-permissions.ts'
import type { Permission } from '../infra/definitions/iam-statements.ts'

/** Diagnostics event for the permission checks of a function's AWS call. */
export type AuthorizationEvent = {
  name: FunctionName
  /** SDK command, such as `TransactWriteCommand`. */
  command: string
  checks: {
    required: Permission
    /** Permission of the role that allows the call; undefined when the call is denied. */
    allowedBy: Permission | undefined
  }[]
}

export const authorizationEvents = channel('debit-collection.authorizations')
