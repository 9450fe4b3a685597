import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, inject } from 'vitest'
import {
  type AuthorizationEvent,
  authorizationEvents,
} from '../../../sandbox/authorization-events.ts'
import type { Use } from './unused.ts'

/**
 * In every file of tests: keeps which permission each function used, and fails the file when one
 * was refused something, however well the function bore it.
 */

const used = new Map<string, Use>()
const refused = new Set<string>()

authorizationEvents.subscribe((message) => {
  const { name, required, allowedBy } = message as AuthorizationEvent
  if (allowedBy === undefined) refused.add(`${name}: ${required}`)
  else used.set(`${name} ${allowedBy}`, { name, permission: allowedBy })
})

/** What was refused so far, and is not held against the file: it was meant to be. */
export const takeRefused = (): string[] => {
  const taken = [...refused]
  refused.clear()
  return taken
}

afterAll(() => {
  if (used.size > 0) {
    const file = join(inject('usesFolder'), `${randomUUID()}.json`)
    writeFileSync(file, JSON.stringify([...used.values()]))
  }
  expect(takeRefused(), 'refused by infra/definitions/function-permissions.ts').toEqual([])
})
