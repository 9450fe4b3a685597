import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, inject } from 'vitest'
import {
  type AuthorizationEvent,
  authorizationEvents,
} from '../../../sandbox/authorization-events.ts'
import type { Use } from './unused.ts'

/** Records the permissions that each function uses, and fails a test file when one is denied. */

const used = new Map<string, Use>()
const refused = new Set<string>()

authorizationEvents.subscribe((message) => {
  const { name, required, allowedBy } = message as AuthorizationEvent
  if (allowedBy === undefined) refused.add(`${name}: ${required}`)
  else used.set(`${name} ${allowedBy}`, { name, permission: allowedBy })
})

/** Returns and clears the denied permissions, for tests that expect them. */
export const takeRefused = (): string[] => {
  const denied = [...refused]
  refused.clear()
  return denied
}

afterAll(() => {
  if (used.size > 0) {
    const file = join(inject('usesFolder'), `${randomUUID()}.json`)
    writeFileSync(file, JSON.stringify([...used.values()]))
  }
  expect(takeRefused(), 'refused by infra/definitions/function-permissions.ts').toEqual([])
})
