import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { StartFailure } from '../start-failure.ts'

export const ROOT = join(import.meta.dirname, '../..')

export type RunOptions = {
  /** Default: the project's folder. */
  cwd?: string | undefined
  env?: NodeJS.ProcessEnv
  /** Receives each line of standard output and standard error. */
  onLine: (line: string) => void
  /** Ends the command; the promise then rejects. */
  signal: AbortSignal
}

/** Runs a command until its end. @returns its exit code */
export const run = async (
  [program = '', ...args]: readonly string[],
  { cwd = ROOT, env = process.env, onLine, signal }: RunOptions,
): Promise<number> => {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], signal })
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', onLine)
  }
  const [code] = await once(child, 'close')
  return code ?? 1
}

/** @throws StartFailure with the last line of a command that fails */
export const mustRun = async (
  args: readonly string[],
  options: Omit<RunOptions, 'onLine'>,
): Promise<void> => {
  let lastLine = ''
  const onLine = (line: string) => {
    if (line.trim()) lastLine = line.trim()
  }
  const code = await run(args, { ...options, onLine })
  if (code !== 0) throw new StartFailure(`${args.join(' ')}: ${lastLine}`)
}
