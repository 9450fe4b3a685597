import { AsyncLocalStorage } from 'node:async_hooks'
import { table } from '../../shared/store/table.ts'

/**
 * What a piece of work meets on its way: each call that it makes of the world outside, of the
 * table or of anything else that says so. Works that go on side by side each meet their own.
 */

export type Call = { name: string; isWrite: boolean }
export type Meeting = <T>(call: Call, go: () => Promise<T>) => Promise<T>

const current = new AsyncLocalStorage<Meeting>()

/** Makes a call as the work meets it. */
export const met = <T>(call: Call, go: () => Promise<T>): Promise<T> => {
  const meeting = current.getStore()
  return meeting ? meeting(call, go) : go()
}

const READS = /^(Get|Query|BatchGet|Scan)/

table.middlewareStack.add(
  (next, context) => (args) => {
    const name = (context as { commandName?: string }).commandName ?? ''
    return met({ name, isWrite: !READS.test(name) }, () => next(args))
  },
  { step: 'initialize', name: 'meeting' },
)

// A call may be tried more than once: this is within what the client repeats.
table.middlewareStack.add(
  (next, context) => (args) => {
    const name = `try ${(context as { commandName?: string }).commandName ?? ''}`
    return met({ name, isWrite: false }, () => next(args))
  },
  { step: 'finalizeRequest', priority: 'low', name: 'meeting of a try' },
)

/** Does some work that meets this. */
export const meeting = <T>(what: Meeting, work: () => Promise<T>): Promise<T> =>
  current.run(what, work)

/** What meets both. */
export const both =
  (outer: Meeting, inner: Meeting): Meeting =>
  (call, go) =>
    outer(call, () => inner(call, go))

/** Does some work beside the one that is met: it meets nothing. */
export const aside = <T>(work: () => Promise<T>): Promise<T> => current.exit(work)

/** Has something happen before each write of a work, by its number from 0. */
export const beforeWrites = (happen: (write: number) => Promise<unknown>): Meeting => {
  let writes = 0
  return async ({ isWrite }, go) => {
    if (isWrite) {
      writes += 1
      await aside(() => happen(writes - 1))
    }
    return go()
  }
}

export class Killed extends Error {}

export type Kill = { write: number; side: 'before' | 'after' }

/** Ends a work before or after its nth write, counted from 0; nothing it asks for is done then. */
export const killing = ({ write, side }: Kill): Meeting & { isDead: () => boolean } => {
  let writes = 0
  let isDead = false
  const what: Meeting = async ({ isWrite }, go) => {
    const isTheOne = isWrite && writes++ === write
    if (isTheOne && side === 'before') isDead = true
    if (isDead) throw new Killed()
    const result = await go()
    if (isTheOne) isDead = true
    if (isDead) throw new Killed()
    return result
  }
  return Object.assign(what, { isDead: () => isDead })
}
