import { AsyncLocalStorage } from 'node:async_hooks'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { FunctionName } from '../functions.ts'
import { calledBy, type Permission, permissionsIn, spelled } from '../statements.ts'
import { needsOf } from './call-needs.ts'

/**
 * Holds every AWS call of a function against its row in permissions.ts, as IAM does by its role.
 * All functions run in one process here, so each call is told by whose work it belongs to.
 */

export type Judged = {
  name: FunctionName
  needed: Permission
  /** The narrowest that allows it; undefined: none does. */
  allowedBy: Permission | undefined
}

const acting = new AsyncLocalStorage<FunctionName>()

/** Does some work as a function would: with what its role allows, and no more. */
export const actingAs = <T>(name: FunctionName, work: () => T): T => acting.run(name, work)

const listeners = new Set<(judged: Judged) => void>()

/** @returns a function that ends it */
export const onJudged = (listener: (judged: Judged) => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** As IAM's StringLike. */
const isLike = (text: string, pattern: string): boolean =>
  new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's').test(text)

const allows = (allowed: Permission, needed: Permission): boolean =>
  allowed.action === needed.action &&
  isLike(needed.resource, allowed.resource) &&
  (allowed.key === undefined || (needed.key !== undefined && isLike(needed.key, allowed.key)))

/** What allows a need, of all that is allowed: the longest pattern says most. */
export const narrowest = (
  allowed: readonly Permission[],
  needed: Permission,
): Permission | undefined =>
  allowed
    .filter((one) => allows(one, needed))
    .toSorted((a, b) => (b.key ?? '').length - (a.key ?? '').length)[0]

const roles = new Map<FunctionName, Permission[]>()

const allowedTo = (name: FunctionName): Permission[] => {
  const allowed = roles.get(name) ?? permissionsIn(calledBy(name))
  roles.set(name, allowed)
  return allowed
}

const judge = (name: FunctionName, command: Command): Error | undefined => {
  const allowed = allowedTo(name)
  const judged = needsOf(command).map((needed) => ({
    name,
    needed,
    allowedBy: narrowest(allowed, needed),
  }))
  for (const one of judged) for (const listener of listeners) listener(one)
  const denied = judged.find(({ allowedBy }) => allowedBy === undefined)
  return denied && refusal(denied)
}

const refusal = ({ name, needed }: Judged): Error =>
  Object.assign(
    new Error(`${name} is not allowed ${spelled(needed)}: its row is in infra/permissions.ts`),
    { name: 'AccessDeniedException', $fault: 'client', $metadata: { httpStatusCode: 400 } },
  )

type Command = Parameters<typeof needsOf>[0]
// biome-ignore lint/suspicious/noExplicitAny: the clients of the SDK agree on nothing narrower
type Client = { send: (command: any, ...rest: any[]) => any }

/** Has the calls of a client judged, or of all clients that have this prototype. */
export const judgeCallsOf = (client: Client): void => {
  const { send } = client
  client.send = function (this: Client, command, ...rest) {
    const name = acting.getStore()
    const denied = name && judge(name, command)
    return denied ? Promise.reject(denied) : send.call(this, command, ...rest)
  }
}

// All clients of the SDK are of one kind, so none escapes, wherever it is made.
judgeCallsOf(Object.getPrototypeOf(SQSClient.prototype))
