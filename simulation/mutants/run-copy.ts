import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Worlds that are lived through in a copy, as a process: what is planted may hang or crash it. */

export type Trial = { seed: number; worlds: number; each: number }

export type End =
  | { kind: 'clean' }
  /** An invariant was told to be broken, or that a world never comes to rest. */
  | { kind: 'caught'; invariants: number[]; restless: boolean }
  /** The simulator itself ended with an error. */
  | { kind: 'crashed'; says: string }
  /** A world neither ended nor was complained of in its time. */
  | { kind: 'hung' }

/** How it ended, and how many worlds that took. */
export type InvocationResult = { end: End; worlds: number }

/** What one world may take. Generous: a busy machine is no fault. */
const PATIENCE_MS = 120_000
/** What does not end when it is asked to is ended. */
const FAREWELL_MS = 3_000

/** @param signal ends it before its time */
export const tryOut = async (
  folder: string,
  { seed, worlds, each }: Trial,
  signal: AbortSignal,
): Promise<InvocationResult> => {
  const wanted = ['--seed', seed, '--worlds', worlds, '--each', each].map(String)
  const child = spawn(process.execPath, ['simulation/mutants/run-seeds.ts', ...wanted], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = () => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), FAREWELL_MS).unref()
  }
  const patience = setTimeout(stop, PATIENCE_MS)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
      patience.refresh()
    })
  }
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  const [code] = (await once(child, 'close')) as [number | null]
  signal.removeEventListener('abort', stop)
  clearTimeout(patience)
  return { end: endOf(code, said), worlds: worldsIn(said, code) }
}

const BROKEN = /^invariant (\d+):/gm
const RESTLESS = 'The world never comes to rest'

const endOf = (code: number | null, said: string): End => {
  if (code === 0) return { kind: 'clean' }
  const numbers = new Set([...said.matchAll(BROKEN)].map(([, number]) => Number(number)))
  const invariants = [...numbers].sort((a, b) => a - b)
  const restless = said.includes(RESTLESS)
  if (invariants.length > 0 || restless) return { kind: 'caught', invariants, restless }
  return code === null ? { kind: 'hung' } : { kind: 'crashed', says: lastError(said) }
}

/** Those it has told of, and the one that it was in. */
const worldsIn = (said: string, code: number | null): number => {
  const told = said.match(/^seed \d+: \d+ violations$/gm)?.length ?? 0
  return code === 0 || said.match(BROKEN) ? told : told + 1
}

/** The line that names the error, or the last one there is. */
const lastError = (said: string): string => {
  const lines = said.split('\n').filter((line) => line.trim() !== '')
  return (lines.findLast((line) => /^\s*\w*Error\b/.test(line)) ?? lines.at(-1) ?? '').trim()
}
