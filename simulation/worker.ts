import './platform/register.ts'
import type { Trial } from './check.ts'
import type { Unit } from './crash-points/run-shape.ts'

/** A process that scripts through worlds, one after the other, as it is asked. */

export type Wanted =
  /** The world of a seed. */
  | { kind: 'world'; seed: number; lifecycles: number }
  /** A shape of a script, whose worker is lost at one effect, or at that and each of those after it. */
  | { kind: 'shape'; name: string; effect: number; pairs: boolean }

export type Told =
  | { kind: 'world'; trial: Omit<Trial, 'effects'> }
  | { kind: 'shape'; unit: Unit }
  | { kind: 'failure'; says: string }

// Read at each call, and slow where they are the system's own.
process.env = { ...process.env }
// Thousands of refused writes a second, whose stacks nobody reads.
Error.stackTraceLimit = 0

// The product is loaded last: by then the world is in the place of the network and of AWS.
await import('./aws/environment.ts')
const { drawScenario } = await import('./scenario/scenario.ts')
const { checkScenario } = await import('./check.ts')
const { tryUnit } = await import('./crash-points/run-shape.ts')

const answer = async (wanted: Wanted): Promise<Told> => {
  if (wanted.kind === 'shape') return { kind: 'shape', unit: await tryUnit(wanted) }
  const { effects: _, ...trial } = await checkScenario(drawScenario(wanted.seed, wanted.lifecycles))
  return { kind: 'world', trial }
}

process.on('message', async (wanted: Wanted) => {
  const told = await answer(wanted).catch(
    (error: unknown): Told => ({ kind: 'failure', says: String(error) }),
  )
  process.send?.(told)
})
process.send?.('ready')
