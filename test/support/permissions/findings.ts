import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { functionRows } from '../../../infra/definitions/functions.ts'
import {
  codeStatements,
  formatPermission,
  permissionsIn,
} from '../../../infra/definitions/iam-statements.ts'
import type { Call } from './calls.ts'

/** `npm run tools` installs the simulator of IAM. */
export const hasSimulator = (): boolean => existsSync('node_modules/@cloud-copilot/iam-simulate')

/** Returns the permissions that no call needs. */
export const unusedIn = (calls: readonly Call[]): string[] => {
  const used = new Set(
    calls.flatMap(({ name, checks }) => checks.map(({ allowedBy }) => `${name}: ${allowedBy}`)),
  )
  return functionRows
    .flatMap(({ name }) =>
      permissionsIn(codeStatements(name)).map(
        (permission) => `${name}: ${formatPermission(permission)}`,
      ),
    )
    .filter((line) => !used.has(line))
    .map((line) => `${line} is not used in a flow test (function-permissions.ts)`)
}

/** Starts the process that simulates the policies of the templates; it takes seconds to load. */
export const startSimulation = () => {
  const process = fork(join(import.meta.dirname, 'denied-calls.ts'))
  const reply = new Promise<string[]>((resolve, reject) => {
    process.once('message', resolve as (message: unknown) => void)
    process.once('exit', (code) => reject(new Error(`The simulation of policies exited: ${code}`)))
  })
  return {
    deniedIn: (calls: readonly Call[]): Promise<string[]> => {
      process.send(calls)
      return reply
    },
    stop: (): void => {
      reply.catch(() => undefined)
      process.kill()
    },
  }
}
