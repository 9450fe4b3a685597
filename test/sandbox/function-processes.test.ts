import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { functionRows } from '../../infra/definitions/functions.ts'
import { actor } from '../../sandbox/authorizer.ts'
import { newFunctionProcesses } from '../../sandbox/bundles/function-processes.ts'
import { loadFunctions } from '../../sandbox/function-host.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/folders.ts'

/** Functions in their own processes; the verb of an event selects the action of the handler. */

const HANDLER = `export const handler = async ({ verb }, context) => {
  if (verb === 'log') console.error('a line')
  if (verb === 'crash') setImmediate(() => { throw new RangeError('too late') })
  if (verb === 'exit') process.exit(3)
  if (verb === 'throw') throw new RangeError('too far')
  if (verb === 'wait' || verb === 'crash') return new Promise(() => undefined)
  const remaining = context.getRemainingTimeInMillis()
  return { pid: process.pid, env: process.env, function: context.functionName, remaining }
}`

const folder = newFolder()
const file = join(folder, 'index.mjs')
writeFileSync(file, HANDLER)
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

const rows = functionRows
  .filter(({ name }) => name === 'charge' || name === 'relay')
  .map((row) => ({ ...row, timeoutSeconds: 3 }))

const startFunctions = async () => {
  const { load, stop } = newFunctionProcesses({
    bundleOf: () => file,
    variablesOf: ({ name }) => ({ OWN: name }),
  })
  stops.push(stop)
  const { invoke } = await loadFunctions(rows, load)
  // biome-ignore lint/suspicious/noExplicitAny: the reply of the handler above
  return { stop, invoke: (name: string, verb = '') => invoke(name, { verb }) as Promise<any> }
}

test('a function has one process, with only its own variables', async () => {
  const { invoke } = await startFunctions()
  const [first, second] = await Promise.all([invoke('charge'), invoke('charge')])
  expect(first).toMatchObject({ env: { OWN: 'charge' }, function: 'charge' })
  expect(Object.keys(first.env)).toEqual(['OWN'])
  expect(first.remaining).toBeLessThanOrEqual(3_000)
  expect(second.pid).toBe(first.pid)
  const other = await invoke('relay')
  expect(other.env).toEqual({ OWN: 'relay' })
  expect(other.pid).not.toBe(first.pid)
})

test('a crash rejects the invocations in flight, and the next one starts a new process', async () => {
  const { invoke } = await startFunctions()
  const { pid } = await invoke('charge')
  const exited = {
    name: 'Runtime.ExitError',
    message: expect.stringMatching(
      /^RequestId: \S+ Error: Runtime exited with error: exit status 3$/,
    ),
  }
  const waiting = expect(invoke('charge', 'wait')).rejects.toMatchObject(exited)
  await expect(invoke('charge', 'exit')).rejects.toMatchObject(exited)
  await waiting
  expect((await invoke('charge')).pid).not.toBe(pid)
})

test('an error of a handler keeps its name and message, and the process continues', async () => {
  const { invoke } = await startFunctions()
  const { pid } = await invoke('charge')
  const error = { name: 'RangeError', message: 'too far' }
  await expect(invoke('charge', 'throw')).rejects.toMatchObject(error)
  expect((await invoke('charge')).pid).toBe(pid)
})

test('the sandbox process prints the lines of a function and the error of a crash, on its behalf', async () => {
  const { invoke } = await startFunctions()
  const printed: unknown[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((part) => {
    printed.push([actor(), part])
    return true
  })
  onTestFinished(() => write.mockRestore())
  await invoke('charge', 'log')
  await expect(invoke('relay', 'crash')).rejects.toThrow('exit status 1')
  await eventually(() => expect(printed).toHaveLength(2))
  expect(printed).toEqual([
    ['charge', 'a line\n'],
    ['relay', expect.stringMatching(/^{"level":"ERROR","message":"fault",.*too late.*}\n$/)],
  ])
})

test('an invocation ends at the timeout of its function', async () => {
  const { invoke } = await startFunctions()
  await expect(invoke('charge', 'wait')).rejects.toThrow('timed out after 3 seconds')
})

test('a stop ends the processes, and a later invocation starts a new one', async () => {
  const { invoke, stop } = await startFunctions()
  const { pid } = await invoke('charge')
  await stop()
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect((await invoke('charge')).pid).not.toBe(pid)
})
