import { AsyncLocalStorage } from 'node:async_hooks'
import { aroundTableCalls } from '../support/table-calls.ts'

/** Intercepts the calls of one async task: all calls of the table client, and those that ask for it. */

export type Call = { name: string; isWrite: boolean }
export type Interceptor = <T>(call: Call, next: () => Promise<T>) => Promise<T>

const current = new AsyncLocalStorage<Interceptor>()

/** Makes a call through the interceptor of the current task, if it has one. */
export const intercepted = <T>(call: Call, next: () => Promise<T>): Promise<T> => {
  const interceptor = current.getStore()
  return interceptor ? interceptor(call, next) : next()
}

const READS = /^(Get|Query|BatchGet|Scan)/

aroundTableCalls((name, next) => intercepted({ name, isWrite: !READS.test(name) }, next))

export const intercept = <T>(interceptor: Interceptor, work: () => Promise<T>): Promise<T> =>
  current.run(interceptor, work)

/** Runs `action` before each matching call, with the index of the call. */
export const beforeCalls = (
  matches: (call: Call) => boolean,
  action: (index: number) => unknown,
): Interceptor => {
  let calls = 0
  return async (call, next) => {
    if (matches(call)) {
      calls += 1
      await current.exit(() => action(calls - 1))
    }
    return next()
  }
}

export const isTransaction = ({ name }: Call): boolean => name.startsWith('TransactWrite')

export class Crashed extends Error {}

/** Fails every call after the write with the given index. */
export const crashAfterWrite = (index: number): Interceptor => {
  let writes = 0
  return async ({ isWrite }, next) => {
    if (writes > index) throw new Crashed()
    const result = await next()
    if (isWrite) writes += 1
    if (writes > index) throw new Crashed()
    return result
  }
}
