import { StartFailure } from '../start-failure.ts'

const INTERRUPTED = 130

export type CommandDeps = {
  cleanup: AsyncDisposableStack
  signal: AbortSignal
  /** Waits for all steps; the first failure aborts the others. */
  all: <T extends readonly Promise<unknown>[]>(
    ...steps: T
  ) => Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>
}

export const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/**
 * Runs a command until its end, a failure or a signal, then its cleanup, and sets the exit code.
 * @param interrupted the exit code after a signal
 */
export const runCommand = async (
  command: (deps: CommandDeps) => Promise<number>,
  { interrupted = INTERRUPTED } = {},
) => {
  const controller = new AbortController()
  const { signal } = controller
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => controller.abort(INTERRUPTED))
  const cleanup = new AsyncDisposableStack()
  try {
    process.exitCode = await command({
      cleanup,
      signal,
      all: async (...steps) => {
        for (const step of steps) step.catch((error) => controller.abort(error))
        await Promise.allSettled(steps)
        return await Promise.all(steps)
      },
    })
  } catch (thrown) {
    const error = signal.aborted ? signal.reason : thrown
    process.exitCode = error === INTERRUPTED ? interrupted : 1
    if (error === INTERRUPTED) return
    if (!(error instanceof StartFailure)) throw error
    process.stderr.write(`${error.message}\n`)
  } finally {
    await cleanup.disposeAsync()
  }
}
