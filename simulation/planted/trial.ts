import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** One run of the simulator, as a process of its own: what is planted in it may hang or crash. */

export type Trial = { lifecycles: number; seed: number }

export type End =
  | { kind: 'clean' }
  /** An invariant was told to be broken, or that the world never comes to rest. */
  | { kind: 'caught'; invariants: number[]; restless: boolean }
  /** The simulator itself ended with an error. */
  | { kind: 'crashed'; says: string }
  /** It neither ended nor complained in its time. */
  | { kind: 'hung' }

/** Generous: a busy machine is no fault. */
const START_SECONDS = 60
const SECONDS_PER_LIFECYCLE = 1
/** What does not end when it is asked to is ended. */
const FAREWELL_MS = 3_000

/** @param signal ends it before its time */
export const tryOut = async (
  folder: string,
  { lifecycles, seed }: Trial,
  signal: AbortSignal,
): Promise<End> => {
  const wanted = ['--lifecycles', String(lifecycles), '--seed', String(seed)]
  const child = spawn(process.execPath, ['simulation/main.ts', ...wanted], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => said.push(text))
  }
  const patience = AbortSignal.timeout((START_SECONDS + lifecycles * SECONDS_PER_LIFECYCLE) * 1000)
  const enough = AbortSignal.any([patience, signal])
  const stop = () => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), FAREWELL_MS).unref()
  }
  if (enough.aborted) stop()
  enough.addEventListener('abort', stop, { once: true })
  const [code] = (await once(child, 'close')) as [number | null]
  enough.removeEventListener('abort', stop)
  return endOf(code, said.join(''))
}

const BROKEN = /\binvariant (\d+)\b/gi
const RESTLESS = 'The world never comes to rest'

const endOf = (code: number | null, said: string): End => {
  if (code === 0) return { kind: 'clean' }
  const numbers = new Set([...said.matchAll(BROKEN)].map(([, number]) => Number(number)))
  const invariants = [...numbers].sort((a, b) => a - b)
  const restless = said.includes(RESTLESS)
  if (invariants.length > 0 || restless) return { kind: 'caught', invariants, restless }
  return code === null ? { kind: 'hung' } : { kind: 'crashed', says: lastError(said) }
}

/** The line that names the error, or the last one there is. */
const lastError = (said: string): string => {
  const lines = said.split('\n').filter((line) => line.trim() !== '')
  return (lines.findLast((line) => /^\s*\w*Error\b/.test(line)) ?? lines.at(-1) ?? '').trim()
}
