import { StartFailure } from '../sandbox/start-failure.ts'

const INTERRUPTED = 130

type CommandDeps = { cleanup: AsyncDisposableStack; signal: AbortSignal }

export const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** Runs a command until its end, a failure or a signal, then its cleanup, and sets the exit code. */
export const runCommand = async (command: (deps: CommandDeps) => Promise<number>) => {
  const stopping = new AbortController()
  const { signal } = stopping
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort())
  const cleanup = new AsyncDisposableStack()
  try {
    process.exitCode = await command({ cleanup, signal })
  } catch (error) {
    if (!signal.aborted && !(error instanceof StartFailure)) throw error
    if (!signal.aborted) process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = signal.aborted ? INTERRUPTED : 1
  } finally {
    await cleanup.disposeAsync()
  }
}
