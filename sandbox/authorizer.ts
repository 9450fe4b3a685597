import { AsyncLocalStorage } from 'node:async_hooks'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { FunctionName } from '../infra/definitions/function-permissions.ts'
import {
  calledBy,
  formatPermission,
  type Permission,
  permissionsIn,
} from '../infra/definitions/iam-statements.ts'
import { type AuthorizationEvent, authorizationEvents } from './authorization-events.ts'
import { requiredPermissions } from './required-permissions.ts'

/**
 * Holds every AWS call of a function against its row in permissions.ts, as IAM does by its role.
 * All functions run in one process here, so each call is told by whose work it belongs to.
 */

const acting = new AsyncLocalStorage<FunctionName>()

/** Does some work as a function would: with what its role allows, and no more. */
export const actingAs = <T>(name: FunctionName, work: () => T): T => acting.run(name, work)

/** The function whose work this is; undefined: what feeds them, or nobody's. */
export const actor = (): FunctionName | undefined => acting.getStore()

const patterns = new Map<string, RegExp>()

/** As IAM's StringLike. */
const isLike = (text: string, pattern: string): boolean => {
  const known =
    patterns.get(pattern) ??
    new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's')
  patterns.set(pattern, known)
  return known.test(text)
}

const allows = (allowed: Permission, needed: Permission): boolean =>
  allowed.action === needed.action &&
  isLike(needed.resource, allowed.resource) &&
  (allowed.key === undefined || (needed.key !== undefined && isLike(needed.key, allowed.key)))

/** What allows a need, of all that is allowed: the longest pattern says most. */
const narrowest = (allowed: readonly Permission[], needed: Permission): Permission | undefined =>
  allowed
    .filter((one) => allows(one, needed))
    .toSorted((a, b) => (b.key ?? '').length - (a.key ?? '').length)[0]

const roles = new Map<FunctionName, Permission[]>()

const allowedTo = (name: FunctionName): Permission[] => {
  const allowed = roles.get(name) ?? permissionsIn(calledBy(name))
  roles.set(name, allowed)
  return allowed
}

/** @returns an error for who is not allowed */
const judge = (name: FunctionName, command: Command): Error | undefined => {
  let denied: Error | undefined
  for (const needed of requiredPermissions(command)) {
    const allowedBy = narrowest(allowedTo(name), needed)
    authorizationEvents.publish({
      name,
      needed: formatPermission(needed),
      allowedBy: allowedBy && formatPermission(allowedBy),
    } satisfies AuthorizationEvent)
    if (!allowedBy) denied ??= refusal(name, needed)
  }
  return denied
}

const refusal = (name: FunctionName, needed: Permission): Error =>
  Object.assign(
    new Error(
      `${name} is not allowed ${formatPermission(needed)}: its row is in infra/definitions/function-permissions.ts`,
    ),
    { name: 'AccessDeniedException', $fault: 'client', $metadata: { httpStatusCode: 400 } },
  )

type Command = Parameters<typeof requiredPermissions>[0]
// biome-ignore lint/suspicious/noExplicitAny: the clients of the SDK agree on nothing narrower
type Client = { send: (command: any, ...rest: any[]) => any }

/** Has the calls of a client judged, or of all clients that have this prototype. */
export const authorizeCallsOf = (client: Client): void => {
  const { send } = client
  client.send = function (this: Client, command, ...rest) {
    const name = actor()
    const denied = name && judge(name, command)
    return denied ? Promise.reject(denied) : send.call(this, command, ...rest)
  }
}

// All clients of the SDK are of one kind, so none escapes, wherever it is made.
authorizeCallsOf(Object.getPrototypeOf(SQSClient.prototype))
