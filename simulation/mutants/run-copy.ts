import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs scenarios in a copy of the source, in a process of its own: a mutant may crash or hang. */

export type CopyTask = { seed: number; runs: number; each: number }

export type End =
  | { kind: 'clean' }
  /** An invariant was violated, or the run never became idle. */
  | { kind: 'caught'; invariants: number[]; neverIdle: boolean }
  /** The simulator itself threw. */
  | { kind: 'crashed'; message: string }
  /** A run exceeded its time limit. */
  | { kind: 'hung' }

/** The time limit of one run; generous for a busy machine. */
const RUN_MAX_MS = 120_000
const KILL_AFTER_MS = 3_000

/** @returns how the process ended, and after how many runs */
export const runCopy = async (
  folder: string,
  { seed, runs, each }: CopyTask,
  signal: AbortSignal,
): Promise<{ end: End; runs: number }> => {
  const args = ['--seed', seed, '--runs', runs, '--each', each].map(String)
  const child = spawn(process.execPath, ['simulation/mutants/run-seeds.ts', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = () => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref()
  }
  const limit = setTimeout(stop, RUN_MAX_MS)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      limit.refresh()
    })
  }
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  const [code] = (await once(child, 'close')) as [number | null]
  signal.removeEventListener('abort', stop)
  clearTimeout(limit)
  return { end: endOf(code, output), runs: runsIn(output, code) }
}

const VIOLATED = /^invariant (\d+):/gm

const endOf = (code: number | null, output: string): End => {
  if (code === 0) return { kind: 'clean' }
  const numbers = new Set([...output.matchAll(VIOLATED)].map(([, number]) => Number(number)))
  const invariants = [...numbers].sort((a, b) => a - b)
  const neverIdle = output.includes('The run never becomes idle')
  if (invariants.length > 0 || neverIdle) return { kind: 'caught', invariants, neverIdle }
  return code === null ? { kind: 'hung' } : { kind: 'crashed', message: lastError(output) }
}

/** Counts the completed runs, and the one that failed without a report. */
const runsIn = (output: string, code: number | null): number => {
  const completed = output.match(/^seed \d+: \d+ violations$/gm)?.length ?? 0
  return code === 0 || output.match(VIOLATED) ? completed : completed + 1
}

/** Returns the line that names the error, or the last line. */
const lastError = (output: string): string => {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return (lines.findLast((line) => /^\s*\w*Error\b/.test(line)) ?? lines.at(-1) ?? '').trim()
}
