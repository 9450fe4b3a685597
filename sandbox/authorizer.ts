import { AsyncLocalStorage } from 'node:async_hooks'
import type { FunctionName } from '../infra/definitions/function-permissions.ts'
import {
  codeStatements,
  formatPermission,
  type Permission,
  permissionsIn,
} from '../infra/definitions/iam-statements.ts'
import { type AuthorizationEvent, authorizationEvents } from './authorization-events.ts'
import { clients } from './aws/sdk.ts'
import { requiredPermissions, type SdkCommand } from './required-permissions.ts'

/**
 * Checks every AWS call of a function against the function's permissions, as IAM does. All functions
 * run in one process, so an AsyncLocalStorage identifies the calling function.
 */

const callingFunction = new AsyncLocalStorage<FunctionName>()

export const actingAs = <T>(name: FunctionName, work: () => T): T => callingFunction.run(name, work)

/** Returns the function that runs; undefined outside functions. */
export const actor = (): FunctionName | undefined => callingFunction.getStore()

const patterns = new Map<string, RegExp>()

/** Matches as IAM's StringLike. */
const isLike = (text: string, pattern: string): boolean => {
  const regExp =
    patterns.get(pattern) ??
    new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's')
  patterns.set(pattern, regExp)
  return regExp.test(text)
}

const allows = (allowed: Permission, required: Permission): boolean =>
  isLike(required.resource, allowed.resource) &&
  (allowed.key === undefined || (required.key !== undefined && isLike(required.key, allowed.key)))

type Role = Map<string, Permission[]>

const roles = new Map<FunctionName, Role>()

/** Returns the permissions of a function by action, those with the longest, so most specific, key first. */
const roleOf = (name: FunctionName): Role => {
  const role = roles.get(name) ?? Map.groupBy(bySpecificity(name), ({ action }) => action)
  roles.set(name, role)
  return role
}

const bySpecificity = (name: FunctionName): Permission[] =>
  permissionsIn(codeStatements(name)).sort((a, b) => (b.key ?? '').length - (a.key ?? '').length)

/** Publishes the checks of the call; returns an error when a permission is missing. */
export const authorize = (name: FunctionName, command: SdkCommand): Error | undefined => {
  const checks = requiredPermissions(command).map((required) => ({
    required,
    allowedBy: roleOf(name)
      .get(required.action)
      ?.find((one) => allows(one, required)),
  }))
  authorizationEvents.publish({
    name,
    command: command.constructor.name,
    checks,
  } satisfies AuthorizationEvent)
  const denied = checks.find(({ allowedBy }) => !allowedBy)
  return denied && accessDenied(name, denied.required)
}

const accessDenied = (name: FunctionName, required: Permission): Error =>
  Object.assign(
    new Error(
      `${name} is not allowed ${formatPermission(required)}: its row is in infra/definitions/function-permissions.ts`,
    ),
    { name: 'AccessDeniedException', $fault: 'client', $metadata: { httpStatusCode: 400 } },
  )

// biome-ignore lint/suspicious/noExplicitAny: the SDK's clients share no narrower type
type SdkClient = { send: (command: any, ...rest: any[]) => any }

/** Checks the calls of a client, or of all clients that share a prototype. */
export const authorizeCallsOf = (client: SdkClient): void => {
  const { send } = client
  client.send = function (this: SdkClient, command, ...rest) {
    const name = actor()
    const denied = name && authorize(name, command)
    return denied ? Promise.reject(denied) : send.call(this, command, ...rest)
  }
}

authorizeCallsOf(clients)
