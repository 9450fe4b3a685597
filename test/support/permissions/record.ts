import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, inject } from 'vitest'
import { formatPermission, type Permission } from '../../../infra/definitions/iam-statements.ts'
import {
  type AuthorizationEvent,
  authorizationEvents,
} from '../../../sandbox/authorization-events.ts'
import type { Call } from './calls.ts'

/** Records the distinct AWS calls of each function, and fails a test file when one is denied. */

const calls = new Map<string, Call>()
const refused = new Set<string>()

/** Masks ids, so that calls for different debits are the same. */
const shapeOf = ({ resource, key = '' }: Permission): string =>
  `${resource} ${key}`.replaceAll(/(?<=[#/][^ ]*)[\p{L}\p{N}_-]+/gu, 'x')

const record = (message: unknown): void => {
  const { name, command, checks } = message as AuthorizationEvent
  const distinct = new Map<string, { required: Permission; allowedBy: string }>()
  for (const { required, allowedBy } of checks) {
    if (!allowedBy) {
      refused.add(`${name}: ${formatPermission(required)}`)
      return
    }
    const permission = formatPermission(allowedBy)
    distinct.set(`${permission} ${shapeOf(required)}`, { required, allowedBy: permission })
  }
  calls.set([name, command, ...[...distinct.keys()].sort()].join('\n'), {
    name,
    command,
    checks: [...distinct.values()],
  })
}
authorizationEvents.subscribe(record)

/** Returns and clears the denied permissions, for tests that expect them. */
export const takeRefused = (): string[] => {
  const denied = [...refused]
  refused.clear()
  return denied
}

afterAll(() => {
  authorizationEvents.unsubscribe(record)
  if (calls.size > 0) {
    const file = join(inject('callsFolder'), `${randomUUID()}.json`)
    writeFileSync(file, JSON.stringify(Object.fromEntries(calls)))
  }
  expect(takeRefused(), 'refused by infra/definitions/function-permissions.ts').toEqual([])
})
