import { channel } from 'node:diagnostics_channel'
import type { FunctionName } from '../infra/definitions/function-permissions.ts'

/** A call of a function that was held against its role, for whoever listens. */
export type AuthorizationEvent = {
  name: FunctionName
  /** An action on a resource: what the call needs of the role. */
  needed: string
  /** The permission of the role that covers it, spelled alike; undefined: it was refused. */
  allowedBy: string | undefined
}

export const authorizationEvents = channel('debit-collection.judgements')
