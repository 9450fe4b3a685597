import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { deserialize } from 'node:v8'
import type { Run } from './observed-run.ts'

/** Runs the scenario of `observe-run.ts` in a process. Returns a function that copies its observations. */
export const observe = async (): Promise<() => Run> => {
  const options = { encoding: 'buffer' as const, maxBuffer: 2 ** 26 }
  const args = ['--no-warnings', 'test/proofs/simulation/observe-run.ts']
  const { stdout } = await promisify(execFile)(process.execPath, args, options)
  return () => deserialize(stdout)
}
